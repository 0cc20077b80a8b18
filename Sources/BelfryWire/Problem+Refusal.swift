public import BelfryCenter

extension Problem {
    /// Tells why the center changed nothing.
    public init(_ refusal: Refusal) {
        switch refusal {
        case .unknownClient:
            self.init(.notFound, "There is no such client.")
        case .unknownObserver:
            self.init(.notFound, "There is no such observer.")
        case .observerRemoved(let tombstone):
            self.init(tombstone)
        case .tooManyObservers(let limit):
            self.init(
                .tooManyObservers, "A client has at most \(limit) observers.",
                members: [Member("limit", integer: limit)])
        case .causedByTooDeep(let limit, let post):
            self.init(
                .loopDetected, "A chain of causedBy has at most \(limit) notifications.",
                members: [Member("limit", integer: limit), Member("item", integer: post)])
        case .modeNotCurrent(let current, let post):
            self.init(
                .modeNotCurrent, "The post is for modes that the center is not in.",
                members: [Member("current", string: current), Member("item", integer: post)])
        case .queueFull(let limit):
            self.init(
                .queueFull,
                "The queue has \(limit) entries, which is its limit (--queue-limit); try again later.",
                members: [Member("limit", integer: limit)])
        case .queueBytesFull:
            self.init(
                .queueFull,
                """
                All queues together, or the entries of this caller, hold as many bytes as they may \
                (--queue-limit, --queue-memory, --principal-share, --address-share).
                """)
        case .timersFull(let limit):
            self.init(
                .queueFull,
                "The center has \(limit) timers, which is its limit (--timer-limit); try again later.",
                members: [Member("limit", integer: limit)])
        case .timerBytesFull:
            self.init(
                .queueFull,
                """
                All timers together, or those of this caller, hold as many bytes as they may \
                (--timer-limit, --queue-memory, --principal-share, --address-share).
                """)
        case .tooManyFarewells(let limit):
            self.init(
                .clientLimitReached,
                """
                The client has \(limit) posts with onDisconnect, which is its limit; dequeue one of \
                them first.
                """,
                members: [
                    Member("limit", integer: limit),
                    Member("of", string: [UInt8]("onDisconnect".utf8)),
                ])
        case .cannotStore:
            self.init(.storeUnavailable, "The broker cannot store this now; try again later.")
        case .keyReused:
            self.init(.keyReused, "The idempotency key was used for another request.")
        case .modeStackFull(let limit):
            self.init(
                .modeStackFull,
                "The mode stack has \(limit) leases, which is its limit (--max-mode-stack).",
                members: [Member("limit", integer: limit)])
        case .unknownMode:
            self.init(.notFound, "There is no such mode lease.")
        case .unknownEntry:
            self.init(.notFound, "There is no such queue entry, and no such timer.")
        case .resumeTooLate:
            self.init(
                .resumeTooLate,
                """
                A client resumes a session before it registers its first observer, and before it \
                sets a timer that ends with it.
                """)
        case .noMailbox:
            self.init(
                .noMailbox, "The observer does not belong to a mailbox, so it cannot be read.")
        case .alreadyHeld:
            self.init(
                .alreadyHeld,
                """
                Somebody holds the address, and does not share it or shares it with as many as may; \
                register with the ifHeld replace to take it over.
                """)
        case .responderCircle:
            self.init(
                .responderCircle,
                "The chain of next would come back to the address; name another next.")
        case .tooManyAsks(let limit):
            self.init(
                .clientLimitReached,
                """
                The caller has \(limit) open asks, which is its limit; wait until some of them are \
                answered, or withdraw them.
                """,
                members: [
                    Member("limit", integer: limit), Member("of", string: [UInt8]("asks".utf8)),
                ])
        case .asksFull(let limit):
            self.init(
                .overloaded,
                "The center has \(limit) open asks, which is its limit (--ask-limit); try again later.",
                members: [Member("limit", integer: limit)])
        case .askBytesFull:
            self.init(
                .overloaded,
                "All open asks together hold as many bytes as they may (--ask-limit); try again later."
            )
        case .unknownAsk:
            self.init(.notFound, "There is no such ask.")
        case .alreadySettled:
            self.init(
                .alreadySettled,
                "The ask is over: it was answered, handed on or withdrawn, or its time has ended.")
        }
    }

    /// What the poll of a mailbox is answered with when another reader has come.
    public static let readerReplaced = Problem(
        .readerReplaced, "Another reader has taken the place of this one.")

    /// Tells who removed an observer, when and why (rule O4).
    public init(_ tombstone: Tombstone) {
        var time: [UInt8] = []
        TimeText.append(milliseconds: tombstone.removedAt, to: &time)
        self.init(
            .observerRemoved, "The observer was removed.",
            members: [
                Member("removedAt", string: time),
                Member("removedBy", string: tombstone.removedBy.text),
                Member("reason", string: [UInt8](tombstone.reason.text.utf8)),
            ])
    }
}

extension Remover {
    /// A client id, a principal, or `broker`.
    var text: [UInt8] {
        switch self {
        case .client(let id):
            var text: [UInt8] = []
            IdentifierText.append(client: id, to: &text)
            return text
        case .principal(let principal): return principal
        case .broker: return [UInt8]("broker".utf8)
        }
    }
}

extension RemovalReason {
    var text: String {
        switch self {
        case .removed: "removed"
        case .connectionClosed: "connection-closed"
        case .clientRemoved: "client-removed"
        case .expired: "expired"
        case .replaced: "replaced"
        }
    }
}
