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
        case .tooManyObservers(let limit): self = .tooManyObservers(limit: limit)
        case .prefixesFull(let limit): self = .prefixesFull(limit: limit)
        case .conditionsFull(let limit): self = .conditionsFull(limit: limit)
        case .causedByTooDeep(let limit, let post):
            self = .causedByTooDeep(limit: limit, post: post)
        case .modeNotCurrent(let current, let post):
            self = .modeNotCurrent(current: current, post: post)
        case .queueFull(let limit): self = .queueFull(limit: limit)
        case .queueBytesFull: self = .queueBytesFull
        case .timersFull(let limit): self = .timersFull(limit: limit)
        case .timerBytesFull: self = .timerBytesFull
        case .tooManyFarewells(let limit): self = .tooManyFarewells(limit: limit)
        case .cannotStore:
            self.init(.storeUnavailable, "The broker cannot store this now; try again later.")
        case .keyReused: self = .keyReused
        case .modeStackFull(let limit): self = .modeStackFull(limit: limit)
        case .unknownMode:
            self.init(.notFound, "There is no such mode lease; it may have ended.")
        case .unknownEntry: self = .unknownEntry
        case .resumeTooLate: self = .resumeTooLate
        case .noMailbox: self = .noMailbox
        case .alreadyHeld: self = .alreadyHeld
        case .responderCircle: self = .responderCircle
        case .tooManyAsks(let limit): self = .tooManyAsks(limit: limit)
        case .asksFull(let limit): self = .asksFull(limit: limit)
        case .askBytesFull: self = .askBytesFull
        case .unknownValue: self = .noValue
        case .preconditionFailed(let current): self = .preconditionFailed(current: current)
        case .leafNotCovered(let path): self = .leafNotCovered(path)
        case .valueTooLarge(let limit): self = .valueTooLarge(limit: limit)
        case .valueTooDeep(let limit): self = .valueTooDeep(limit: limit)
        case .valuesFull(let limit): self = .valuesFull(limit: limit)
        case .valueBytesFull: self = .valueBytesFull
        case .tooManyParts(let limit): self = .tooManyParts(limit: limit)
        case .tooManyEntries(let limit): self = .tooManyEntries(limit: limit)
        case .archiveFull(let limit, let count): self = .archiveFull(limit: limit, count: count)
        case .unknownArchive:
            self.init(
                .notFound, "There is no such archive; with prefix=true, name is a prefix.")
        case .setByConfiguration: self = .setByConfiguration
        case .unknownAsk:
            self.init(.notFound, "There is no such ask; it may have ended.")
        case .alreadySettled: self = .alreadySettled
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
                + Self.members(ofFilter: tombstone))
    }

    /// The filter of a removed observer, as a listing has it.
    private static func members(ofFilter tombstone: Tombstone) -> [Member] {
        let terms = tombstone.terms
        var members = [
            ("name", tombstone.name), ("namePrefix", terms?.namePrefix),
            ("object", tombstone.object), ("objectPrefix", terms?.objectPrefix),
        ].compactMap { key, text in text.map { Member(key, string: $0) } }
        if let names = terms?.names, !names.isEmpty {
            members.append(Member("names", strings: names))
        }
        return members
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
    fileprivate static func modeNotCurrent(current: [UInt8], post: Int) -> Problem {
        Problem(
            .modeNotCurrent,
            "The center is in none of the modes of the post; the style asap waits for one.",
            members: [Member("current", string: current), Member("item", integer: post)])
    }

    fileprivate static var keyReused: Problem {
        Problem(
            .keyReused, "This idempotency key was used for a different request; use a new key.")
    }

    fileprivate static var unknownEntry: Problem {
        Problem(
            .notFound, "No queue entry or timer has this id; it may have been posted already.")
    }

    fileprivate static var resumeTooLate: Problem {
        Problem(
            .resumeTooLate,
            """
            Resume the session before the client registers its first observer or sets a timer \
            that ends with the client.
            """)
    }

    fileprivate static var noMailbox: Problem {
        Problem(
            .noMailbox, "The observer is not a mailbox; its client receives what it observes.")
    }

    fileprivate static var alreadyHeld: Problem {
        Problem(
            .alreadyHeld,
            """
            Others hold the address. "ifHeld": "replace" takes it over from your own \
            responders, and from those whose selectors you may all respond to; "share" joins \
            those that share.
            """)
    }

    fileprivate static var responderCircle: Problem {
        Problem(
            .responderCircle,
            "The chain of next would lead back to this address; choose another next.")
    }

    fileprivate static func preconditionFailed(current: ValueTag?) -> Problem {
        Problem(
            .preconditionFailed,
            current == nil
                ? "The value does not exist; send the request without a condition to create it."
                : "The value changed since you read it, or exists already; read it and retry.",
            members: current.map { [Member("etag", string: ValueTagText.text($0))] } ?? [])
    }

    fileprivate static var alreadySettled: Problem {
        Problem(
            .alreadySettled,
            "The ask has ended: it was answered, passed on or withdrawn, or it expired.")
    }

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
