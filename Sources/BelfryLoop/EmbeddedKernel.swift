public import BelfrySystem

/// The actions of a loop on one embedded socket.
public struct EmbeddedCounters: Equatable, Sendable {
    /// How often it read.
    public var readCount = 0
    /// How often it wrote.
    public var writeCount = 0
    /// How many bytes it read.
    public var readByteCount = 0
    /// How many bytes it wrote.
    public var writtenByteCount = 0
}

/// A kernel in memory: sockets without a network and a clock that tests move by hand.
///
/// It never blocks. A loop on it hands out `.waiting` when nothing is left to do.
public final class EmbeddedKernel {
    /// The monotonic time; it starts at one second.
    public private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// The wall time; it starts at 2026-01-01T00:00:00Z.
    public var wallNow: WallTime { WallTime(milliseconds: wallNanoseconds / 1_000_000) }
    /// The error number that accepting a connection fails with, such as `EMFILE`.
    public var acceptFailure: Int32?
    /// How often the loop has waited or polled.
    public private(set) var waitCount = 0
    /// How often the loop has tried to accept a connection.
    public private(set) var acceptCount = 0

    var wallNanoseconds: Int64 = 1_767_225_600_000_000_000
    var sockets: [EmbeddedSocket] = []
    private var openNumbers: [Int32] = []
    private var attempts: [Int32] = []
    private var wakes: [(wake: LoopWake, token: UInt64)] = []
    private var signals: [Int32] = []
    private var signalToken: UInt64?
    private var writeSerial = 0
    /// For how many nanoseconds the loop has waited since they were taken last.
    private var advanced: Int64 = 0

    /// Creates a kernel without sockets.
    public init() {}

    /// Moves both clocks on, while the loop waits.
    public func advance(by duration: Duration) {
        pause(for: duration)
        advanced += duration.nanoseconds
    }

    /// Moves both clocks on, while the loop does not run although it wants to.
    public func pause(for duration: Duration) {
        now += duration
        wallNanoseconds &+= duration.nanoseconds
    }

    /// Sends a signal to the loop.
    public func raise(signal: Int32) {
        signals.append(signal)
    }

    /// Connects to the loop's listener with that number, in the order of `listen`.
    ///
    /// The peer is an address or loopback, and a process of this user or of another one.
    public func connect(
        listener: Int = 0, from address: SocketAddress? = nil,
        owner: SocketOwner = .user(SocketOwner.ownUser)
    ) -> EmbeddedPeer {
        let listeners = sockets.indices.filter { sockets[$0].isListener }
        precondition(listener < listeners.count, "no such listener")
        var socket = EmbeddedSocket(
            address: address ?? .loopback(port: UInt16(50_000 + sockets.count % 10_000)))
        socket.owner = owner
        let number = open(socket)
        sockets[listeners[listener]].backlog.append(number)
        return EmbeddedPeer(kernel: self, number: number)
    }

    /// Takes the oldest connection that the loop asked for with `connect(to:)`.
    public func takeAttempt() -> EmbeddedPeer? {
        guard !attempts.isEmpty else { return nil }
        return EmbeddedPeer(kernel: self, number: attempts.removeFirst())
    }

    private func open(_ socket: EmbeddedSocket) -> Int32 {
        sockets.append(socket)
        openNumbers.append(Int32(sockets.count - 1))
        return Int32(sockets.count - 1)
    }

    // MARK: What the loop calls

    /// Takes the nanoseconds for which the loop has waited.
    func takeAdvanced() -> Int64 {
        defer { advanced = 0 }
        return advanced
    }

    func wait(into ready: inout [ReadyEntry]) {
        waitCount += 1
        ready.removeAll(keepingCapacity: true)
        for entry in wakes where entry.wake.isSignalled {
            ready.append(ReadyEntry(token: entry.token, readiness: .readable))
        }
        if let signalToken, !signals.isEmpty {
            ready.append(ReadyEntry(token: signalToken, readiness: .readable))
        }
        for number in openNumbers {
            let socket = sockets[Int(number)]
            guard let token = socket.token else { continue }
            let readiness = socket.readiness.intersection(socket.interest.union(.failed))
            if !readiness.isEmpty { ready.append(ReadyEntry(token: token, readiness: readiness)) }
        }
    }

    func watch(_ socket: Socket, token: UInt64, for interest: Readiness) {
        sockets[Int(socket.rawValue)].token = token
        sockets[Int(socket.rawValue)].interest = interest
    }

    func watch(_ wake: LoopWake, token: UInt64) {
        wakes.append((wake, token))
    }

    func watchSignals(token: UInt64) {
        signalToken = token
    }

    func nextSignal() -> Int32? {
        signals.isEmpty ? nil : signals.removeFirst()
    }

    func listen(at address: SocketAddress) -> (socket: Socket, address: SocketAddress) {
        var address = address
        if address.port == 0 { address.port = UInt16(40_000 + sockets.count % 10_000) }
        var socket = EmbeddedSocket(address: address)
        socket.isListener = true
        return (Socket(rawValue: open(socket)), address)
    }

    func openAttempt(to address: SocketAddress) -> Socket {
        var socket = EmbeddedSocket(address: address)
        socket.isConnecting = true
        let number = open(socket)
        attempts.append(number)
        return Socket(rawValue: number)
    }

    func finishConnecting(_ socket: Socket) throws(SystemCallError) {
        let failure = sockets[Int(socket.rawValue)].connectFailure
        if let failure { throw SystemCallError(call: "connect", errno: failure) }
    }

    func accept(
        _ listener: Socket
    ) throws(SystemCallError) -> (socket: Socket, peer: SocketAddress)? {
        acceptCount += 1
        let place = Int(listener.rawValue)
        guard !sockets[place].backlog.isEmpty else { return nil }
        if let acceptFailure { throw SystemCallError(call: "accept4", errno: acceptFailure) }
        let number = sockets[place].backlog.removeFirst()
        return (Socket(rawValue: number), sockets[Int(number)].address)
    }

    func read(
        _ socket: Socket, into buffer: inout [UInt8], byteLimit: Int
    ) throws(SystemCallError) -> Int? {
        try sockets[Int(socket.rawValue)].read(
            into: &buffer, byteLimit: byteLimit, turn: waitCount)
    }

    func write(
        _ socket: Socket, _ ranges: [Range<Int>], of bytes: Span<UInt8>
    ) throws(SystemCallError) -> Int? {
        writeSerial += 1
        sockets[Int(socket.rawValue)].lastWriteSerial = writeSerial
        return try sockets[Int(socket.rawValue)].write(ranges, of: bytes, turn: waitCount)
    }

    func shutdownWriting(_ socket: Socket) throws(SystemCallError) {
        if sockets[Int(socket.rawValue)].isReset {
            throw SystemCallError(call: "shutdown", errno: EmbeddedSocket.notConnected)
        }
        sockets[Int(socket.rawValue)].outputEnded = true
    }

    func close(_ socket: Socket) {
        sockets[Int(socket.rawValue)].outputEnded = true
        sockets[Int(socket.rawValue)].isClosed = true
        openNumbers.removeAll { $0 == socket.rawValue }
    }
}
