import BelfryHTTP

/// The owner of the other end of a connection, as far as it decides whether callers are local.
enum Neighbor: Equatable {
    /// No request has needed the owner.
    case unasked
    /// A process of the broker's own user, or of root; or the system does not know the owner.
    case own
    case stranger(Stranger)

    @inline(__always)
    var isOwn: Bool {
        if case .own = self { true } else { false }
    }
}

/// The reason why a caller is not local (decision 112).
enum Stranger: Equatable {
    /// The connection comes from an address that is not loopback.
    case elsewhere
    /// A process of this user has the other end of the connection.
    case user(UInt32)
    /// No process has it any longer.
    case nobody
    /// The request has this field, and no listed proxy has named a loopback address with it.
    case passedOn(ForwardingField)

    /// The reason for the log.
    var text: String {
        switch self {
        case .elsewhere: "the connection comes from another machine"
        case .user(let user): "a process of user \(user) has the other end of the connection"
        case .nobody: "no process has the other end of the connection any more"
        case .passedOn(let field): "the request has the field \(field.text), as proxies send it"
        }
    }
}
