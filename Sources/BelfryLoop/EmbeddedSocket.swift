internal import BelfrySystem

/// One socket of an embedded kernel, as both of its ends see it.
struct EmbeddedSocket {
    static let notConnected: Int32 = 107
    private static let reset: Int32 = 104
    private static let brokenPipe: Int32 = 32

    var address: SocketAddress
    /// The owner of its far end.
    var owner = SocketOwner.user(SocketOwner.ownUser)
    var isListener = false
    var backlog: [Int32] = []
    var isConnecting = false
    var connectFailure: Int32?

    /// The bytes that the peer has sent and the loop has not read.
    var inbound: [UInt8] = []
    var inputEnded = false
    /// The bytes that the loop has written and the peer has not taken.
    var outbound: [UInt8] = []
    var outputEnded = false
    var peerIsGone = false
    var isReset = false
    var isClosed = false
    /// How many bytes the loop can write before the socket is full.
    var writeCapacity = Int.max

    var token: UInt64?
    var interest: Readiness = []

    var lastWriteSerial = 0
    var total = EmbeddedCounters()
    var busiestTurn = EmbeddedCounters()
    /// The counters of the last turn that counted anything.
    private var last = (turn: 0, counters: EmbeddedCounters())

    init(address: SocketAddress) {
        self.address = address
    }

    var readiness: Readiness {
        if isListener { return backlog.isEmpty ? [] : .readable }
        if isConnecting { return connectFailure == nil ? [] : [.writable, .failed] }
        if isReset { return [.readable, .writable, .failed, .ending] }
        var readiness: Readiness = []
        if !inbound.isEmpty || inputEnded { readiness.insert(.readable) }
        if inputEnded { readiness.insert(.ending) }
        if writeCapacity > 0 { readiness.insert(.writable) }
        if inputEnded && outputEnded { readiness.insert(.failed) }
        return readiness
    }

    mutating func read(
        into buffer: inout [UInt8], byteLimit: Int, turn: Int
    ) throws(SystemCallError) -> Int? {
        count(EmbeddedCounters(readCount: 1), turn)
        if isReset { throw SystemCallError(call: "recv", errno: Self.reset) }
        if inbound.isEmpty { return inputEnded ? 0 : nil }
        let taken = min(inbound.count, buffer.count, byteLimit)
        buffer.replaceSubrange(0..<taken, with: inbound[..<taken])
        inbound.removeFirst(taken)
        count(EmbeddedCounters(readByteCount: taken), turn)
        return taken
    }

    mutating func write(
        _ ranges: [Range<Int>], of bytes: Span<UInt8>, turn: Int
    ) throws(SystemCallError) -> Int? {
        count(EmbeddedCounters(writeCount: 1), turn)
        if isReset { throw SystemCallError(call: "send", errno: Self.brokenPipe) }
        guard writeCapacity > 0, !isConnecting else { return nil }
        var written = 0
        for range in ranges {
            let taken = min(range.count, writeCapacity)
            for place in range.prefix(taken) where !peerIsGone { outbound.append(bytes[place]) }
            if writeCapacity != .max { writeCapacity -= taken }
            written += taken
        }
        // As TCP has it: the first write to a peer that is gone succeeds, and brings the reset.
        if peerIsGone { isReset = true }
        count(EmbeddedCounters(writtenByteCount: written), turn)
        return written
    }

    private mutating func count(_ more: EmbeddedCounters, _ turn: Int) {
        if last.turn != turn { last = (turn, EmbeddedCounters()) }
        total.add(more)
        last.counters.add(more)
        busiestTurn.formMaximum(last.counters)
    }
}

extension EmbeddedCounters {
    fileprivate mutating func add(_ more: EmbeddedCounters) {
        readCount += more.readCount
        writeCount += more.writeCount
        readByteCount += more.readByteCount
        writtenByteCount += more.writtenByteCount
    }

    fileprivate mutating func formMaximum(_ other: EmbeddedCounters) {
        readCount = max(readCount, other.readCount)
        writeCount = max(writeCount, other.writeCount)
        readByteCount = max(readByteCount, other.readByteCount)
        writtenByteCount = max(writtenByteCount, other.writtenByteCount)
    }
}
