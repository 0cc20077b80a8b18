internal import CBelfrySystem
internal import Glibc

/// A TCP socket by its number; its maker closes it, once.
///
/// It is a plain number so that tables of many sockets can hold it; the owner of such a table is
/// the owner of its sockets. All sockets are non-blocking and closed on exec.
public struct Socket: Hashable, Sendable {
    /// The descriptor's number.
    public let rawValue: Int32

    /// Names a socket by its number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Listens at an address and returns the real one, which differs for port 0.
    ///
    /// No other process can listen there meanwhile. An IPv6 listener does not take IPv4
    /// connections.
    public static func listen(
        at address: SocketAddress, backlog: Int32 = 4096
    ) throws(SystemCallError) -> (socket: Socket, address: SocketAddress) {
        let made = belfry_listen(address.raw, backlog)
        let number = try checked(made.descriptor, "listen")
        return (Socket(rawValue: number), SocketAddress(made.address))
    }

    /// Starts to connect; the socket is writable when the attempt is over.
    public static func connect(to address: SocketAddress) throws(SystemCallError) -> Socket {
        Socket(rawValue: try checked(belfry_connect(address.raw), "connect"))
    }

    /// Takes the next connection of a listener, or `nil` when none waits.
    ///
    /// The new socket has `TCP_NODELAY`, which it inherits from the listener.
    public func accept() throws(SystemCallError) -> (socket: Socket, peer: SocketAddress)? {
        let made = belfry_accept(rawValue)
        guard let number = try countOrBlocked(Int(made.descriptor), "accept4") else { return nil }
        return (Socket(rawValue: Int32(number)), SocketAddress(made.address))
    }

    /// The address of this end.
    public func ownAddress() throws(SystemCallError) -> SocketAddress {
        let named = belfry_own_address(rawValue)
        _ = try checked(named.descriptor, "getsockname")
        return SocketAddress(named.address)
    }

    /// Throws the error that a connection attempt ended with.
    public func finishConnecting() throws(SystemCallError) {
        _ = try checked(belfry_connect_outcome(rawValue), "connect")
    }

    /// Reads what has arrived, at most what the buffer holds and `byteLimit` says.
    ///
    /// - Returns: The byte count, 0 at the end of the input, or `nil` when nothing has arrived.
    public func read(
        into buffer: inout [UInt8], byteLimit: Int = .max
    ) throws(SystemCallError) -> Int? {
        let socket = rawValue
        // SAFETY: recv(2) writes at most as many bytes as the buffer has.
        let outcome = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            return unsafe belfry_receive(socket, base, min(bytes.count, byteLimit))
        }
        return try countOrBlocked(outcome, "recv")
    }

    /// Writes what the socket takes of the bytes.
    ///
    /// - Returns: The byte count, or `nil` when the socket is full.
    public func write(_ bytes: Span<UInt8>) throws(SystemCallError) -> Int? {
        let socket = rawValue
        // SAFETY: send(2) reads at most as many bytes as the span has.
        let outcome = unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            return unsafe belfry_send(socket, base, bytes.count)
        }
        return try countOrBlocked(outcome, "send")
    }

    /// Writes one message of words, as the machine has them.
    ///
    /// - Returns: Whether the socket took the whole message.
    func write(message: Span<UInt32>) -> Bool {
        let socket = rawValue
        // SAFETY: send(2) reads at most as many bytes as the span has.
        return unsafe message.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return true }
            return unsafe belfry_send(socket, base, bytes.count) == bytes.count
        }
    }

    /// Writes what the socket takes of several ranges of the bytes, in one call.
    ///
    /// Of more than 1,024 ranges the rest is left, as if the socket had been full.
    ///
    /// - Returns: The byte count, or `nil` when the socket is full.
    public func write(
        _ ranges: [Range<Int>], of bytes: Span<UInt8>
    ) throws(SystemCallError) -> Int? {
        let socket = rawValue
        let count = min(ranges.count, 1024)
        for range in ranges.prefix(count) {
            precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "out of bounds")
        }
        // SAFETY: each vector lies within the span, as the check above has shown, and the `count`
        // vectors are all initialized before sendmsg(2) reads them.
        let outcome = unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            return unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: count) {
                vectors in
                guard let first = vectors.baseAddress else { return 0 }
                for index in 0..<count {
                    let start =
                        unsafe UnsafeMutableRawPointer(mutating: base)
                        + ranges[index].lowerBound
                    unsafe vectors.initializeElement(
                        at: index, to: iovec(iov_base: start, iov_len: ranges[index].count))
                }
                return unsafe belfry_send_vectors(socket, first, count)
            }
        }
        return try countOrBlocked(outcome, "sendmsg")
    }

    /// Tells the peer that no more bytes will come.
    public func shutdownWriting() throws(SystemCallError) {
        _ = try checked(belfry_shutdown_writing(rawValue), "shutdown")
    }

    /// Closes the socket; its number may belong to another one right after.
    public func close() {
        belfry_close(rawValue)
    }
}
