public import BelfryCenter

extension Problem {
    /// Reports the reason that an ask has no answer, with the addresses that were asked.
    public init(
        _ failure: AskFailure, id: NotificationID, path: [[UInt8]], _ sight: Sight = .everything
    ) {
        var members = Self.members(of: id, path: path, sight)
        if case .responderRefused(let error) = failure {
            members.append(Member("error", json: error))
        }
        self.init(failure.kind, failure.detail, members: members)
    }

    /// Reports the withdrawal of an ask to its asker.
    public init(withdrawn id: NotificationID, path: [[UInt8]], _ sight: Sight = .everything) {
        self.init(
            .alreadySettled, "The ask was withdrawn.",
            members: Self.members(of: id, path: path, sight))
    }

    /// The id of the ask, and the addresses that were asked.
    private static func members(
        of id: NotificationID, path: [[UInt8]], _ sight: Sight
    ) -> [Member] {
        var text: [UInt8] = []
        id.append(to: &text)
        let seen = sight.seen(of: path)
        let members = [Member("id", string: text), Member("path", strings: seen)]
        if seen.count == path.count { return members }
        return members + [Member("partial", json: Array("true".utf8))]
    }
}

extension AskFailure {
    fileprivate var kind: Problem.Kind {
        switch self {
        case .noResponder: .noResponder
        case .responderBusy: .responderBusy
        case .selectorNotImplemented: .selectorNotImplemented
        case .responderRefused: .responderRefused
        case .responderGone: .responderGone
        case .noAnswer: .noAnswer
        }
    }

    fileprivate var detail: String {
        switch self {
        case .noResponder:
            """
            No responder is available for this selector; \
            retry later, or give a default.
            """
        case .responderBusy:
            """
            Each responder for this selector has as many open asks as its concurrency allows; \
            retry later, or give a default.
            """
        case .selectorNotImplemented:
            """
            No responder at the address, or along its chain of next, implements the selector; \
            register one that does, or give a default.
            """
        case .responderRefused:
            """
            The responder refused the ask, or its answer exceeds a limit; the member error says \
            which.
            """
        case .responderGone:
            "The responder disconnected before it answered, and once forbids asking another one."
        case .noAnswer:
            """
            The responder did not answer in time; wait longer (Prefer: wait), \
            fetch the answer later (Prefer: respond-async), or give a default.
            """
        }
    }
}
