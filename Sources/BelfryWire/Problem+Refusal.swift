public import BelfryCenter
internal import BelfryJSON

extension Problem {
    /// Reports the reason that the center changed nothing.
    public init(_ refusal: Refusal) {
        switch refusal {
        case .unknownClient:
            self.init(.notFound, "No client has this id, or you may not use the client.")
        case .unknownObserver:
            self.init(.notFound, "No observer has this id, or you may not use the observer.")
        case .observerRemoved(let tombstone): self.init(tombstone)
        case .leaseIsOver(let milliseconds): self = .leaseIsOver(after: milliseconds)
        case .tooManyObservers(let limit):
            self.init(
                .tooManyObservers,
                "The client has \(limit) observers, the limit; remove some first.",
                members: [Member("limit", integer: limit)])
        case .causedByTooDeep(let limit, let post):
            self.init(
                .loopDetected,
                "More than \(limit) notifications caused each other; look for a loop of programs.",
                members: [Member("limit", integer: limit)]
                    + (post.map { [Member("item", integer: $0)] } ?? []))
        case .modeNotCurrent(let current, let post):
            self.init(
                .modeNotCurrent,
                "The center is in none of the modes of the post; the style asap waits for one.",
                members: [Member("current", string: current), Member("item", integer: post)])
        case .queueFull(let limit):
            self.init(
                .queueFull,
                "The queue has \(limit) entries, the limit (--queue-limit); try again later.",
                members: [Member("limit", integer: limit)])
        case .queueBytesFull:
            self.init(
                .queueFull,
                """
                All queues together, or the entries of this caller, have reached a limit of bytes \
                (--queue-limit, --queue-memory, --principal-share, --address-share); dequeue some.
                """)
        case .timersFull(let limit):
            self.init(
                .queueFull,
                "The center has \(limit) timers, the limit (--timer-limit); try again later.",
                members: [Member("limit", integer: limit)])
        case .timerBytesFull:
            self.init(
                .queueFull,
                """
                All timers together, or those of this caller, have reached a limit of bytes \
                (--timer-limit, --queue-memory, --principal-share, --address-share); dequeue some.
                """)
        case .tooManyFarewells(let limit):
            self.init(
                .clientLimitReached,
                "The client has \(limit) posts with onDisconnect, the limit; dequeue one first.",
                members: [
                    Member("limit", integer: limit),
                    Member("of", string: [UInt8]("onDisconnect".utf8)),
                ])
        case .cannotStore:
            self.init(.storeUnavailable, "The broker cannot store this now; try again later.")
        case .keyReused:
            self.init(
                .keyReused, "This idempotency key was used for a different request; use a new key.")
        case .modeStackFull(let limit):
            self.init(
                .modeStackFull,
                "The mode stack has \(limit) leases, the limit (--max-mode-stack); leave one first.",
                members: [Member("limit", integer: limit)])
        case .unknownMode:
            self.init(.notFound, "There is no such mode lease; it may have ended.")
        case .unknownEntry:
            self.init(
                .notFound, "No queue entry or timer has this id; it may have been posted already.")
        case .resumeTooLate:
            self.init(
                .resumeTooLate,
                """
                Resume the session before the client registers its first observer or sets a timer \
                that ends with the client.
                """)
        case .noMailbox:
            self.init(
                .noMailbox, "The observer is not a mailbox; its client receives what it observes.")
        case .alreadyHeld:
            self.init(
                .alreadyHeld,
                """
                Others hold the address. "ifHeld": "replace" takes it over from your own \
                responders, and from those whose selectors you may all respond to; "share" joins \
                those that share.
                """)
        case .responderCircle:
            self.init(
                .responderCircle,
                "The chain of next would lead back to this address; choose another next.")
        case .tooManyAsks(let limit):
            self.init(
                .clientLimitReached,
                "The caller has \(limit) open asks, the limit; wait for answers, or withdraw some.",
                members: [
                    Member("limit", integer: limit), Member("of", string: [UInt8]("asks".utf8)),
                ])
        case .asksFull(let limit):
            self.init(
                .overloaded,
                "The center has \(limit) open asks, the limit (--ask-limit); try again later.",
                members: [Member("limit", integer: limit)])
        case .askBytesFull:
            self.init(
                .overloaded,
                """
                All open asks together, or those of this caller, have reached a limit of bytes \
                (--ask-limit, --queue-memory, --principal-share, --address-share); try again later, or \
                withdraw some.
                """)
        case .unknownValue: self = .noValue
        case .preconditionFailed(let current):
            self.init(
                .preconditionFailed,
                current == nil
                    ? "The value does not exist; send the request without a condition to create it."
                    : "The value changed since you read it, or exists already; read it and retry.",
                members: current.map { [Member("etag", string: ValueTagText.text($0))] } ?? [])
        case .leafNotCovered(let path): self = .leafNotCovered(path)
        case .valueTooLarge(let limit):
            self.init(
                .contentTooLarge,
                "The value of an object may have at most \(limit) bytes; use several objects.",
                members: [Member("limit", integer: limit)])
        case .valueTooDeep(let limit):
            self = .invalid([
                FieldError(
                    .pointer(.root), "must not nest deeper than \(limit) levels with its key path")
            ])
        case .valuesFull(let limit):
            self.init(
                .valuesFull,
                "The center has \(limit) values, the limit (--value-limit); remove some.",
                members: [Member("limit", integer: limit)])
        case .valueBytesFull:
            self.init(
                .valuesFull,
                """
                All values together, or those of this caller, have reached a limit of bytes \
                (--value-limit, --queue-memory, --principal-share, --address-share); remove some, or make \
                them smaller.
                """)
        case .tooManyParts(let limit):
            self = .invalid([
                FieldError(
                    .parameter("ttl"),
                    "may be set on at most \(limit) parts of one value; leases count too"
                )
            ])
        case .tooManyEntries(let limit):
            self.init(
                .clientLimitReached,
                "The client has \(limit) values with a lease, the limit; remove some first.",
                members: [
                    Member("limit", integer: limit), Member("of", string: [UInt8]("values".utf8)),
                ])
        case .unknownAsk:
            self.init(.notFound, "There is no such ask; it may have ended.")
        case .alreadySettled:
            self.init(
                .alreadySettled,
                "The ask has ended: it was answered, passed on or withdrawn, or it expired.")
        }
    }

    /// The tag of the value, if a condition was not met; the field `ETag` has it too.
    public var entityTag: [UInt8]? {
        guard kind == .preconditionFailed, let json = members.first?.json else { return nil }
        var reader = JSONReader()
        return try? reader.readString(in: json.span)
    }

    /// The problem of a key path without a value.
    public static let noValue = Problem(.notFound, "The object has no value at this key path.")

    /// The answer to the poll of a mailbox when another reader has come.
    public static let readerReplaced = Problem(
        .readerReplaced, "Another reader of this mailbox has replaced this one.")

    /// Reports who removed an observer, when and why (rule O4).
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

extension Problem {
    /// The refusal of a write below a value that is no object.
    fileprivate static func leafNotCovered(_ path: [UInt8]) -> Problem {
        let text = String(decoding: path, as: UTF8.self)
        return Problem(
            .forbidden,
            """
            The value at \(text) is no object, and a write below it would remove it: this requires \
            the grant set for \(text), which the caller does not have.
            """,
            members: [Member("verb", string: Array("set".utf8)), Member("name", string: path)])
    }

    /// The refusal of a lease that would be over already.
    fileprivate static func leaseIsOver(after milliseconds: Int64) -> Problem {
        .invalid([
            FieldError(
                .pointer(JSONPointer.root.appending(key: "lease")),
                """
                must be at least \(milliseconds / 1_000 + 1) s: the lease runs from the end of \
                the client's connection, and the client has been away for about as long
                """)
        ])
    }
}
