public import BelfrySystem

/// The other end of a connection, for a look at once: later its socket may be that of another one.
public struct ConnectionPeer {
    /// Its address.
    public let address: SocketAddress
    let end: End

    enum End {
        case socket(Socket)
        case embedded(SocketOwner)
    }

    /// Both ends of the connection; nil where there is no socket.
    public var pair: SocketPair? {
        guard case .socket(let socket) = end, let own = try? socket.ownAddress() else { return nil }
        return SocketPair(client: address, server: own)
    }

    /// The owner of the other end; `nobody` where the connection is gone.
    ///
    /// - Parameter owners: asks the system; a kernel in memory knows the owner.
    public func owner(_ owners: () -> SocketOwners) -> SocketOwner {
        switch end {
        case .embedded(let owner): owner
        case .socket: pair.map { owners().owner(of: $0) } ?? .nobody
        }
    }
}
