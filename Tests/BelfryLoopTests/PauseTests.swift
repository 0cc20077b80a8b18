import BelfrySystem
import Testing

@testable import BelfryLoop

@Suite("EventLoop: pauses of the process (decision 63)")
struct PauseTests {
    @Test("time for which the loop waited counts whole, a pause for a beat")
    func attended() throws {
        var bench = try LoopBench()
        let start = bench.loop.attendedNanoseconds
        func attended() -> Int64 { bench.loop.attendedNanoseconds - start }
        bench.kernel.advance(by: .seconds(100))
        #expect(try bench.settle().isEmpty)
        #expect(attended() == 100_000_000_000 && bench.loop.missedNanoseconds == 0)
        bench.kernel.pause(for: .seconds(1))
        #expect(try bench.settle().isEmpty)
        #expect(attended() == 101_000_000_000)
        bench.kernel.pause(for: .seconds(3_600))
        #expect(try bench.settle().isEmpty)
        #expect(attended() == 102_000_000_000)
        #expect(bench.loop.now.nanoseconds - bench.loop.attendedNanoseconds == 3_599_000_000_000)
        bench.kernel.advance(by: .seconds(2))
        bench.kernel.pause(for: .seconds(5))
        #expect(try bench.settle().isEmpty)
        #expect(attended() == 105_000_000_000)
    }

    @Test("a turn that takes very long is a pause too")
    func longTurn() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        peer.send([1])
        #expect(try bench.next() == .received(id, byteCount: 1))
        bench.kernel.pause(for: .seconds(10))
        #expect(try bench.next() == .turnEnds)
        #expect(bench.loop.missedNanoseconds == 0)
        #expect(try bench.next() == .waiting)
        #expect(bench.loop.missedNanoseconds == 9_000_000_000)
    }

    @Test("after a pause what has come is heard before a deadline of its connection counts")
    func deadlines() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        let (other, _) = try bench.connect()
        for id in [id, other] { bench.loop.setDeadline(id, at: bench.kernel.now + .seconds(30)) }
        bench.kernel.pause(for: .seconds(60))
        #expect(try bench.settle().isEmpty)
        peer.send([1])
        #expect(try bench.next() == .received(id, byteCount: 1))
        bench.loop.setDeadline(id, at: nil)
        bench.kernel.advance(by: .milliseconds(999))
        #expect(try bench.settle().isEmpty)
        bench.kernel.advance(by: .milliseconds(1))
        #expect(try bench.settle() == [.deadline(other)])
    }
}
