import BelfrySystem
import Glibc
import Testing

@testable import BelfryLoop

@Suite("EventLoop: turns, times and mail")
struct TurnTests {
    @Test("a turn hands out input, timers and deadlines, then its end, then idle")
    func order() throws {
        var bench = try LoopBench(reportsIdle: true)
        let (id, peer) = try bench.connect()
        let now = bench.kernel.now
        _ = bench.loop.schedule(at: now + .seconds(1), 5)
        bench.loop.setDeadline(id, at: now + .seconds(1))
        bench.kernel.advance(by: .seconds(1))
        peer.send([1])
        #expect(try bench.next() == .received(id, byteCount: 1))
        #expect(try bench.next() == .timer(5))
        #expect(try bench.next() == .deadline(id))
        #expect(try bench.next() == .turnEnds)
        #expect(try bench.next() == .idle)
        #expect(try bench.next() == .waiting)
        #expect(try bench.next() == .waiting)
    }

    @Test("idle is told only when nothing is ready, and once")
    func idle() throws {
        var bench = try LoopBench(reportsIdle: true)
        let (id, peer) = try bench.connect()
        peer.send([1])
        #expect(try bench.next() == .received(id, byteCount: 1))
        #expect(try bench.next() == .turnEnds)
        peer.send([2])
        #expect(try bench.next() == .received(id, byteCount: 1))
        #expect(try bench.next() == .turnEnds)
        _ = bench.loop.schedule(at: bench.loop.now, 3)
        #expect(try bench.next() == .timer(3))
        #expect(try bench.next() == .turnEnds)
        #expect(try bench.next() == .idle)
        bench.send([4], to: id)
        #expect(try bench.next() == .turnEnds)
        #expect(try bench.next() == .waiting)
        #expect(peer.received == [4])
    }

    @Test("a caller can ask for one more idle event")
    func idleAgain() throws {
        var bench = try LoopBench(reportsIdle: true)
        #expect(try bench.settle() == [.idle])
        bench.loop.reportsIdle = true
        #expect(try bench.settle() == [.idle])
        bench.loop.reportsIdle = false
        _ = try bench.connect()
        #expect(try bench.settle().isEmpty)
    }

    @Test("timers come in the order of their times, then of their scheduling")
    func timers() throws {
        var bench = try LoopBench()
        let now = bench.kernel.now
        for (seconds, payload) in [(3, 30), (1, 10), (2, 20), (1, 11), (4, 40)] {
            _ = bench.loop.schedule(at: now + .seconds(seconds), UInt64(payload))
        }
        let cancelled = bench.loop.schedule(at: now + .seconds(2), 21)
        bench.loop.cancel(cancelled)
        bench.loop.cancel(cancelled)
        bench.kernel.advance(by: .seconds(3) - .nanoseconds(1))
        #expect(try bench.settle() == [.timer(10), .timer(11), .timer(20)])
        bench.kernel.advance(by: .nanoseconds(1))
        #expect(try bench.settle() == [.timer(30)])
    }

    @Test("a timer that is scheduled for right now waits for the next turn")
    func timerFence() throws {
        var bench = try LoopBench()
        _ = bench.loop.schedule(at: bench.kernel.now, 1)
        #expect(try bench.next() == .timer(1))
        _ = bench.loop.schedule(at: bench.kernel.now - .seconds(1), 2)
        #expect(try bench.next() == .turnEnds)
        #expect(try bench.next() == .timer(2))
    }

    @Test("a deadline can be moved and taken back, and is never early")
    func deadlines() throws {
        var bench = try LoopBench()
        let (first, _) = try bench.connect()
        let (second, _) = try bench.connect()
        let now = bench.kernel.now
        bench.loop.setDeadline(first, at: now + .seconds(1))
        bench.loop.setDeadline(second, at: now + .seconds(1))
        bench.loop.setDeadline(first, at: now + .seconds(2))
        bench.loop.setDeadline(second, at: nil)
        bench.kernel.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(try bench.settle().isEmpty)
        bench.kernel.advance(by: .milliseconds(250))
        #expect(try bench.settle() == [.deadline(first)])
        bench.kernel.advance(by: .seconds(100))
        #expect(try bench.settle().isEmpty)
    }

    @Test("a turn without time hands out one deadline, and the next turn goes on")
    func deadlinesInShares() throws {
        var configuration = LoopConfiguration()
        configuration.turnWorkLimit = .zero
        var bench = try LoopBench(configuration)
        var ids: [ConnectionID] = []
        for _ in 0..<4 { ids.append(try bench.connect().id) }
        for id in ids { bench.loop.setDeadline(id, at: bench.loop.now + .seconds(1)) }
        bench.loop.closeAfterFlush(ids[3], lingering: true)
        _ = try bench.settle()
        bench.kernel.advance(by: .seconds(10))
        #expect(try bench.next() == .deadline(ids[0]))
        #expect(try bench.next() == .turnEnds)
        #expect(try bench.next() == .deadline(ids[1]))
        // One that is moved while it waits for its turn does not come.
        bench.loop.setDeadline(ids[2], at: nil)
        #expect(try bench.next() == .turnEnds)
        #expect(try bench.next() == .closed(ids[3], .finished))
        #expect(try bench.next() == .turnEnds)
        #expect(try bench.settle().isEmpty)
    }

    @Test("a deadline that is moved while another one is handed out does not come")
    func movedDeadline() throws {
        var bench = try LoopBench()
        let (first, _) = try bench.connect()
        let (second, _) = try bench.connect()
        for id in [first, second] { bench.loop.setDeadline(id, at: bench.kernel.now) }
        #expect(try bench.next() == .deadline(first))
        bench.loop.setDeadline(second, at: bench.kernel.now + .seconds(1))
        #expect(try bench.next() == .turnEnds)
        bench.kernel.advance(by: .seconds(1))
        #expect(try bench.settle() == [.deadline(second)])
    }

    @Test("clocks are read once a turn")
    func clocks() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        peer.send([1])
        #expect(try bench.next() == .received(id, byteCount: 1))
        let (now, wallNow) = (bench.loop.now, bench.loop.wallNow)
        bench.kernel.advance(by: .seconds(1))
        #expect(try bench.next() == .turnEnds)
        #expect(bench.loop.now == now)
        #expect(try bench.next() == .waiting)
        #expect(bench.loop.now == now + .seconds(1))
        #expect(bench.loop.wallNow == wallNow + .seconds(1))
    }

    @Test("mail is told once for each filling of the mailbox, and a full one refuses")
    func mail() throws {
        var bench = try LoopBench()
        let mailbox = try LoopMailbox<Int>(messageLimit: 2)
        try bench.loop.attach(mailbox.wake)
        #expect(mailbox.post(1))
        #expect(mailbox.post(2))
        #expect(!mailbox.post(3))
        #expect(try bench.settle() == [.mail])
        var batch: [Int] = []
        mailbox.drain(into: &batch)
        #expect(batch == [1, 2])
        #expect(mailbox.post(4))
        mailbox.drain(into: &batch)
        #expect(batch == [1, 2, 4])
        #expect(try bench.settle() == [.mail])
        mailbox.drain(into: &batch)
        #expect(batch == [1, 2, 4])
        #expect(try bench.settle().isEmpty)
    }

    @Test("signals are handed out one by one")
    func signals() throws {
        var bench = try LoopBench()
        try bench.loop.attach(try SignalDescriptor([SIGUSR1]))
        bench.kernel.raise(signal: SIGTERM)
        bench.kernel.raise(signal: SIGHUP)
        #expect(try bench.settle() == [.signal(SIGTERM), .signal(SIGHUP)])
    }
}
