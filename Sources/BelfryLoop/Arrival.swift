internal import BelfrySystem

/// A connection that a listener took, and that no loop has yet.
public struct Arrival: Sendable {
    let socket: Socket
    let peer: SocketAddress
    let listener: Int

    /// Closes the connection, which goes to no loop.
    public func close() {
        socket.close()
    }
}
