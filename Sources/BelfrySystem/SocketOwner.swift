internal import CBelfrySystem

/// The process at one end of a connection within this machine, by its user.
public enum SocketOwner: Equatable, Sendable {
    /// A process has it, and the socket was made by this user.
    case user(UInt32)
    /// No process has it, or none that was found.
    case nobody
    /// The system has no way to say.
    case untold

    /// The effective user of this process.
    public static var ownUser: UInt32 { belfry_own_user() }

    /// Reads the kernel's row of a socket: its state, its user and its inode.
    ///
    /// A socket that its process has closed has no inode, and its user 0 means no owner, not root.
    /// The same holds in TIME_WAIT. One that listens, or that has sent a SYN, is another socket
    /// with the port of a closed one.
    init(state: UInt8, user: UInt32, inode: UInt32) {
        // ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING (tcp_states.h).
        let isConnected = [1, 4, 5, 8, 9, 11].contains(state)
        self = isConnected && inode != 0 ? .user(user) : .nobody
    }
}

/// The two ends of a connection within this machine.
public struct SocketPair: Equatable, Sendable {
    /// The end that has connected, and whose owner is asked for.
    public let client: SocketAddress
    /// The end that was connected to.
    public let server: SocketAddress

    /// Joins the ends.
    public init(client: SocketAddress, server: SocketAddress) {
        self.client = client
        self.server = server
    }
}
