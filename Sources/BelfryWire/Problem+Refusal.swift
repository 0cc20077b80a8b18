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
        }
    }

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
        }
    }
}
