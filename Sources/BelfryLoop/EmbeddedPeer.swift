public import BelfrySystem

/// The far end of an embedded socket.
public struct EmbeddedPeer {
    let kernel: EmbeddedKernel
    let number: Int32

    /// Sends bytes to the loop.
    public func send(_ bytes: some Sequence<UInt8>) {
        socket.inbound += bytes
    }

    /// The bytes that the loop has written, less those that were taken.
    public var received: [UInt8] {
        socket.outbound
    }

    /// Takes the bytes that the loop has written.
    public func takeReceived() -> [UInt8] {
        defer { socket.outbound = [] }
        return socket.outbound
    }

    /// How many more bytes the socket takes before it is full; without limit at first.
    public var writeCapacity: Int {
        get { socket.writeCapacity }
        nonmutating set { socket.writeCapacity = newValue }
    }

    /// Ends the loop's input; this end still receives.
    public func halfClose() {
        socket.inputEnded = true
    }

    /// Closes both directions; the loop finds out at the end of its input or by writing.
    public func close() {
        socket.inputEnded = true
        socket.peerIsGone = true
    }

    /// Resets the connection.
    public func reset() {
        socket.inbound = []
        socket.isReset = true
    }

    /// Lets a connection attempt of the loop succeed.
    public func completeAttempt() {
        socket.isConnecting = false
    }

    /// Lets a connection attempt of the loop fail.
    public func refuseAttempt(errno: Int32) {
        socket.connectFailure = errno
    }

    /// Whether the loop has ended its output, by shutting it down or by closing.
    public var sawEndOfOutput: Bool {
        socket.outputEnded
    }

    /// Whether the loop has closed the socket.
    public var isClosed: Bool {
        socket.isClosed
    }

    /// The address that the loop knows this end by.
    public var address: SocketAddress {
        socket.address
    }

    /// All that the loop did with the socket.
    public var total: EmbeddedCounters {
        socket.total
    }

    /// The most of each count that the loop did in any one turn.
    public var busiestTurn: EmbeddedCounters {
        socket.busiestTurn
    }

    /// The place of the latest write among all writes of the kernel, from 1.
    public var lastWriteSerial: Int {
        socket.lastWriteSerial
    }

    private var socket: EmbeddedSocket {
        get { kernel.sockets[Int(number)] }
        nonmutating _modify { yield &kernel.sockets[Int(number)] }
    }
}
