internal import BelfrySystem

/// The system that a loop runs on.
public enum Kernel {
    /// The real one: epoll and TCP sockets.
    case linux
    /// A kernel in memory, which a test cranks.
    case embedded(EmbeddedKernel)
}

/// All calls that a loop makes to the outside.
enum KernelCalls: ~Copyable {
    case linux(Epoll)
    case embedded(EmbeddedKernel)

    init(_ kernel: Kernel) throws(SystemCallError) {
        switch kernel {
        case .linux: self = .linux(try Epoll())
        case .embedded(let kernel): self = .embedded(kernel)
        }
    }

    func now() -> MonotonicTime {
        switch self {
        case .linux: .now()
        case .embedded(let kernel): kernel.now
        }
    }

    /// The wall time, in nanoseconds since the start of 1970.
    func wallNanoseconds() -> Int64 {
        switch self {
        case .linux: WallTime.nowInNanoseconds()
        case .embedded(let kernel): kernel.wallNanoseconds
        }
    }

    /// Whether a wait returns at once, although nothing is ready.
    var neverBlocks: Bool {
        switch self {
        case .linux: false
        case .embedded: true
        }
    }

    func wait(
        timeoutNanoseconds: Int64?, into ready: inout [ReadyEntry]
    ) throws(SystemCallError) {
        switch self {
        case .linux(let epoll):
            try epoll.wait(timeoutNanoseconds: timeoutNanoseconds, into: &ready)
        case .embedded(let kernel): kernel.wait(into: &ready)
        }
    }

    /// The time that the loop wanted to wait; in memory, the time that the test let pass.
    func wantedNanoseconds(asked: Int64?) -> Int64? {
        switch self {
        case .linux: asked
        case .embedded(let kernel): kernel.takeAdvanced()
        }
    }

    func watch(
        _ socket: Socket, token: UInt64, for interest: Readiness
    ) throws(SystemCallError) {
        switch self {
        case .linux(let epoll): try epoll.watch(socket.rawValue, token: token, for: interest)
        case .embedded(let kernel): kernel.watch(socket, token: token, for: interest)
        }
    }

    func rewatch(
        _ socket: Socket, token: UInt64, for interest: Readiness
    ) throws(SystemCallError) {
        switch self {
        case .linux(let epoll): try epoll.rewatch(socket.rawValue, token: token, for: interest)
        case .embedded(let kernel): kernel.watch(socket, token: token, for: interest)
        }
    }

    func watch(_ wake: LoopWake, token: UInt64) throws(SystemCallError) {
        switch self {
        case .linux(let epoll): try epoll.watch(wake.rawValue, token: token, for: .readable)
        case .embedded(let kernel): kernel.watch(wake, token: token)
        }
    }

    func watchSignals(_ number: Int32, token: UInt64) throws(SystemCallError) {
        switch self {
        case .linux(let epoll): try epoll.watch(number, token: token, for: .readable)
        case .embedded(let kernel): kernel.watchSignals(token: token)
        }
    }

    func listen(
        at address: SocketAddress
    ) throws(SystemCallError) -> (socket: Socket, address: SocketAddress) {
        switch self {
        case .linux: try Socket.listen(at: address)
        case .embedded(let kernel): kernel.listen(at: address)
        }
    }

    func connect(to address: SocketAddress) throws(SystemCallError) -> Socket {
        switch self {
        case .linux: try Socket.connect(to: address)
        case .embedded(let kernel): kernel.openAttempt(to: address)
        }
    }

    func finishConnecting(_ socket: Socket) throws(SystemCallError) {
        switch self {
        case .linux: try socket.finishConnecting()
        case .embedded(let kernel): try kernel.finishConnecting(socket)
        }
    }

    func accept(
        _ listener: Socket
    ) throws(SystemCallError) -> (socket: Socket, peer: SocketAddress)? {
        switch self {
        case .linux: try listener.accept()
        case .embedded(let kernel): try kernel.accept(listener)
        }
    }

    func peer(of socket: Socket, at address: SocketAddress) -> ConnectionPeer {
        switch self {
        case .linux: ConnectionPeer(address: address, end: .socket(socket))
        case .embedded(let kernel):
            ConnectionPeer(
                address: address, end: .embedded(kernel.sockets[Int(socket.rawValue)].owner))
        }
    }

    func read(
        _ socket: Socket, into buffer: inout [UInt8], byteLimit: Int
    ) throws(SystemCallError) -> Int? {
        switch self {
        case .linux: try socket.read(into: &buffer, byteLimit: byteLimit)
        case .embedded(let kernel):
            try kernel.read(socket, into: &buffer, byteLimit: byteLimit)
        }
    }

    func write(_ bytes: Span<UInt8>, to socket: Socket) throws(SystemCallError) -> Int? {
        switch self {
        case .linux: try socket.write(bytes)
        case .embedded(let kernel): try kernel.write(socket, [0..<bytes.count], of: bytes)
        }
    }

    func write(
        _ ranges: [Range<Int>], of bytes: Span<UInt8>, to socket: Socket
    ) throws(SystemCallError) -> Int? {
        switch self {
        case .linux: try socket.write(ranges, of: bytes)
        case .embedded(let kernel): try kernel.write(socket, ranges, of: bytes)
        }
    }

    func shutdownWriting(_ socket: Socket) throws(SystemCallError) {
        switch self {
        case .linux: try socket.shutdownWriting()
        case .embedded(let kernel): try kernel.shutdownWriting(socket)
        }
    }

    func close(_ socket: Socket) {
        switch self {
        case .linux: socket.close()
        case .embedded(let kernel): kernel.close(socket)
        }
    }
}
