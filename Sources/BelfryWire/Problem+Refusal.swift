public import BelfryCenter
internal import BelfryJSON

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
                members: [Member("limit", integer: limit)]
                    + (post.map { [Member("item", integer: $0)] } ?? []))
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
                """
                All open asks together, or those of this caller, hold as many bytes as they may \
                (--ask-limit, --queue-memory, --principal-share, --address-share); try again later, or \
                withdraw some of them.
                """)
        case .unknownValue:
            self = .noValue
        case .preconditionFailed(let current):
            self.init(
                .preconditionFailed,
                current == nil
                    ? "There is no value at the place; leave the condition out to make one."
                    : "The value has another tag; read it again, and decide with what it is now.",
                members: current.map { [Member("etag", string: ValueTagText.text($0))] } ?? [])
        case .valueTooLarge(let limit):
            self.init(
                .contentTooLarge,
                "The whole value of an object has at most \(limit) bytes; use several objects.",
                members: [Member("limit", integer: limit)])
        case .valueTooDeep(let limit):
            self = .invalid([
                FieldError(
                    .pointer(.root), "must not nest deeper than \(limit), with its key path")
            ])
        case .valuesFull(let limit):
            self.init(
                .valuesFull,
                "The center has \(limit) values, which is its limit (--value-limit); remove some.",
                members: [Member("limit", integer: limit)])
        case .valueBytesFull:
            self.init(
                .valuesFull,
                """
                All values together, or those of this caller, hold as many bytes as they may \
                (--value-limit, --queue-memory, --principal-share, --address-share); remove some, or make \
                them smaller.
                """)
        case .tooManyParts(let limit):
            self = .invalid([
                FieldError(
                    .parameter("ttl"),
                    "must not be given to more than \(limit) places of one value, leases among them"
                )
            ])
        case .tooManyEntries(let limit):
            self.init(
                .clientLimitReached,
                """
                The client has \(limit) entries with a lease, which is its limit; remove some of \
                them first.
                """,
                members: [
                    Member("limit", integer: limit), Member("of", string: [UInt8]("values".utf8)),
                ])
        case .unknownAsk:
            self.init(.notFound, "There is no such ask.")
        case .alreadySettled:
            self.init(
                .alreadySettled,
                "The ask is over: it was answered, handed on or withdrawn, or its time has ended.")
        }
    }

    /// The tag of what is there, if the problem says that a condition is not met; the field `ETag` has it too.
    public var entityTag: [UInt8]? {
        guard kind == .preconditionFailed, let json = members.first?.json else { return nil }
        var reader = JSONReader()
        return try? reader.readString(in: json.span)
    }

    /// What is said of a place of a value where nothing is.
    public static let noValue = Problem(.notFound, "There is no value at this place.")

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
            ]
                + [("name", tombstone.name), ("object", tombstone.object)].compactMap { key, text in
                    text.map { Member(key, string: $0) }
                })
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
