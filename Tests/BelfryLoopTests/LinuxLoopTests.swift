import BelfryLoop
import BelfrySystem
import Glibc
import Testing

/// No test waits for a fixed time: each ends with the event that it waits for.
@Suite("EventLoop on the real kernel")
struct LinuxLoopTests {
    /// Runs the loop until an event is as wanted, and gives all up to it.
    private func run(
        _ loop: inout EventLoop, _ input: inout [UInt8], until isLast: (LoopEvent) -> Bool
    ) throws -> [LoopEvent] {
        var events: [LoopEvent] = []
        while true {
            let event = try loop.nextEvent(into: &input)
            if event != .turnEnds { events.append(event) }
            if isLast(event) { return events }
        }
    }

    private func accept(
        _ loop: inout EventLoop, _ input: inout [UInt8]
    ) throws -> (id: ConnectionID, client: Socket) {
        loop.reportsIdle = false
        let address = try loop.listen(on: .loopback(port: 0))
        let client = try Socket.connect(to: address)
        while true {
            if case .accepted(let id, 0) = try loop.nextEvent(into: &input) { return (id, client) }
        }
    }

    @Test("bytes go there and back, also between two connections of one loop")
    func echo() throws {
        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
        var input = [UInt8](repeating: 0, count: 65_536)
        let address = try loop.listen(on: .loopback(port: 0))
        let client = try loop.connect(to: address)
        loop.output += [1, 2, 3]
        loop.send(0..<3, to: client, as: .answer)
        var echoed: [UInt8] = []
        while echoed.count < 3 {
            guard case .received(let id, let byteCount) = try loop.nextEvent(into: &input)
            else { continue }
            if id == client {
                echoed += input[..<byteCount]
            } else {
                let start = loop.output.count
                loop.output += input[..<byteCount]
                loop.send(start..<loop.output.count, to: id, as: .answer)
            }
        }
        #expect(echoed == [1, 2, 3])
        #expect(loop.connectionCount == 2)
    }

    @Test("a stopped reader drains, and nothing is lost or out of order")
    func backpressure() throws {
        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
        var input = [UInt8](repeating: 0, count: 65_536)
        let (id, client) = try accept(&loop, &input)
        defer { client.close() }
        let byteCount = 12 << 20
        // One block is sent again and again: each range but the first is not adjacent to the last.
        loop.output = (0..<65_536).map { UInt8($0 >> 8) }
        for _ in 0..<(byteCount >> 16) { loop.send(0..<65_536, to: id, as: .delivery) }
        _ = try run(&loop, &input) { $0 == .overHighWater(id) }
        #expect(loop.unsentByteCount(of: id) > 1 << 20)
        loop.reportsIdle = true
        var received = 0
        var isInOrder = true
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while received < byteCount {
            while let count = try client.read(into: &buffer), count > 0 {
                for place in [0, count - 1] {
                    let expected = UInt8(truncatingIfNeeded: (received + place) >> 8)
                    if buffer[place] != expected { isInOrder = false }
                }
                received += count
            }
            if received < byteCount {
                loop.reportsIdle = true
                _ = try loop.nextEvent(into: &input)
            }
        }
        #expect(isInOrder)
        #expect(loop.unsentByteCount(of: id) == 0)
    }

    @Test("a half-closed client is told and gets its answer before the connection ends")
    func halfClose() throws {
        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
        var input = [UInt8](repeating: 0, count: 1024)
        let (id, client) = try accept(&loop, &input)
        defer { client.close() }
        try client.shutdownWriting()
        #expect(try run(&loop, &input) { $0 == .endOfInput(id) } == [.endOfInput(id)])
        loop.output += [7]
        loop.send(0..<1, to: id, as: .answer)
        loop.closeAfterFlush(id, lingering: true)
        _ = try run(&loop, &input) { $0 == .closed(id, .finished) }
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(try client.read(into: &buffer) == 1)
        #expect(try client.read(into: &buffer) == 0)
    }

    @Test("the end of a paused connection is told before what waits to be read")
    func endInPause() throws {
        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
        var input = [UInt8](repeating: 0, count: 1024)
        let (id, client) = try accept(&loop, &input)
        loop.pauseReading(id)
        #expect(try client.write([1].span) == 1)
        client.close()
        #expect(try run(&loop, &input) { $0 == .endAhead(id) } == [.endAhead(id)])
        loop.resumeReading(id)
        let rest = try run(&loop, &input) { $0 == .endOfInput(id) }
        #expect(rest == [.received(id, byteCount: 1), .endOfInput(id)])
    }

    @Test("a reset closes the connection")
    func reset() throws {
        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
        var input = [UInt8](repeating: 0, count: 1024)
        let (id, client) = try accept(&loop, &input)
        var none = linger(l_onoff: 1, l_linger: 0)
        // SAFETY: the call reads one `linger`.
        let status = unsafe setsockopt(
            client.rawValue, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
        #expect(status == 0)
        client.close()
        let events = try run(&loop, &input) { $0 == .closed(id, .reset) }
        #expect(events == [.closed(id, .reset)])
    }

    @Test("connecting to a port where nobody listens fails with its error")
    func refused() throws {
        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
        var input = [UInt8](repeating: 0, count: 1024)
        // No system assigns port 1 to a socket that asks for any port.
        let id = try loop.connect(to: .loopback(port: 1))
        _ = try run(&loop, &input) { $0 == .closed(id, .failed(errno: ECONNREFUSED)) }
        #expect(loop.connectionCount == 0)
    }

    @Test("another thread's mail wakes a waiting loop")
    func mail() throws {
        let mailbox = try LoopMailbox<Int>(messageLimit: 1)
        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
        loop.reportsIdle = false
        try loop.attach(mailbox.wake)
        let thread = try SystemThread { _ = mailbox.post(42) }
        var input = [UInt8](repeating: 0, count: 1024)
        #expect(try run(&loop, &input) { $0 == .mail } == [.mail])
        thread.join()
        var batch: [Int] = []
        mailbox.drain(into: &batch)
        #expect(batch == [42])
    }

    @Test("a timer ends a wait")
    func timer() throws {
        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
        loop.reportsIdle = false
        let time = loop.now + .milliseconds(2)
        _ = loop.schedule(at: time, 9)
        var input = [UInt8](repeating: 0, count: 1024)
        #expect(try run(&loop, &input) { $0 == .timer(9) } == [.timer(9)])
        #expect(loop.now >= time)
    }

    @Test("a signal to this thread is handed out instead of ending the process")
    func signal() throws {
        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
        loop.reportsIdle = false
        try loop.attach(try SignalDescriptor([SIGUSR2]))
        raise(SIGUSR2)
        var input = [UInt8](repeating: 0, count: 1024)
        #expect(try run(&loop, &input) { $0 == .signal(SIGUSR2) } == [.signal(SIGUSR2)])
    }
}
