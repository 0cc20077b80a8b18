import BelfrySystem
import Testing

@testable import BelfryLoop

@Suite("EventLoop: corked connections")
struct CorkTests {
    @Test("what is sent while corked is written in order, with one write, after the uncorking")
    func order() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.send([1], to: id)
        bench.loop.cork(id)
        bench.send([2], to: id, as: .delivery)
        #expect(try bench.settle().isEmpty)
        bench.send([3], to: id)
        #expect(try bench.settle().isEmpty)
        #expect(peer.received.isEmpty)
        #expect(bench.loop.unsentByteCount(of: id) == 3)
        #expect(bench.loop.slots[0].interest == .readable)
        bench.loop.uncork(id)
        bench.send([4], to: id)
        #expect(try bench.settle().isEmpty)
        #expect(peer.received == [1, 2, 3, 4])
        #expect(peer.total.writeCount == 1)
        #expect(bench.loop.unsentByteTotal == 0)
    }

    @Test("a connection that is corked and uncorked in one turn is written as ever")
    func oneTurn() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.loop.cork(id)
        bench.send([1, 2], to: id)
        bench.loop.uncork(id)
        #expect(try bench.settle().isEmpty)
        #expect(peer.received == [1, 2])
        #expect(bench.loop.slots[0].unsent.capacity == 0)
        bench.loop.uncork(id)
        #expect(try bench.settle().isEmpty)
    }

    @Test("a corked connection is still read, and the end of its input told")
    func reading() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.loop.cork(id)
        bench.send([1], to: id)
        peer.send([7])
        #expect(try bench.settle() == [.received(id, byteCount: 1)])
        peer.halfClose()
        #expect(try bench.settle() == [.endOfInput(id)])
        bench.loop.uncork(id)
        _ = try bench.settle()
        #expect(peer.received == [1])
    }

    @Test("the marks count what a cork keeps back, at the limit and past it")
    func marks() throws {
        var configuration = LoopConfiguration()
        configuration.highWaterByteCount = 10
        configuration.lowWaterByteCount = 4
        var bench = try LoopBench(configuration)
        let (id, peer) = try bench.connect()
        bench.loop.cork(id)
        bench.send(Array(0..<10), to: id)
        #expect(try bench.settle().isEmpty)
        bench.send([10], to: id)
        #expect(try bench.settle() == [.overHighWater(id)])
        #expect(bench.loop.isBackpressured(id) == true)
        #expect(bench.loop.unsentByteTotal == 11)
        peer.writeCapacity = 6
        bench.loop.uncork(id)
        #expect(try bench.settle().isEmpty)
        #expect(bench.loop.unsentByteCount(of: id) == 5)
        peer.writeCapacity = 1
        #expect(try bench.settle() == [.drained(id)])
        peer.writeCapacity = .max
        _ = try bench.settle()
        #expect(peer.received == Array(0...10))
    }

    @Test("a full socket is not written while corked, though it has room again")
    func full() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        peer.writeCapacity = 1
        bench.send([1, 2], to: id)
        _ = try bench.settle()
        bench.loop.cork(id)
        peer.writeCapacity = .max
        bench.send([3], to: id)
        _ = try bench.settle()
        #expect(peer.received == [1])
        bench.loop.uncork(id)
        _ = try bench.settle()
        #expect(peer.received == [1, 2, 3])
    }

    @Test("closing after the flush waits for the uncorking, with input ended or not")
    func closing() throws {
        for inputEnds in [false, true] {
            var bench = try LoopBench()
            let (id, peer) = try bench.connect()
            bench.loop.cork(id)
            bench.send([1], to: id)
            if inputEnds { peer.halfClose() }
            _ = try bench.settle()
            bench.loop.closeAfterFlush(id, lingering: false)
            #expect(try bench.settle().isEmpty)
            bench.kernel.advance(by: .seconds(9))
            #expect(try bench.settle().isEmpty)
            bench.loop.uncork(id)
            #expect(try bench.settle() == [.closed(id, .finished)])
            #expect(peer.received == [1])
        }
    }

    @Test("a corked connection that closes has its time from the uncorking on")
    func closingTime() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.loop.cork(id)
        bench.send([1], to: id)
        bench.loop.closeAfterFlush(id, lingering: false)
        _ = try bench.settle()
        bench.kernel.advance(by: .seconds(11))
        #expect(try bench.settle().isEmpty)
        peer.writeCapacity = 0
        bench.loop.uncork(id)
        _ = try bench.settle()
        bench.kernel.advance(by: .seconds(11))
        #expect(try bench.settle() == [.closed(id, .timedOut)])
        #expect(peer.received.isEmpty)
        #expect(bench.loop.unsentByteTotal == 0)
    }

    @Test(
        "what a cork keeps back can be replaced, and what came before it cannot",
        arguments: [false, true])
    func replaced(isClosing: Bool) throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.send([1], to: id)
        bench.loop.cork(id)
        bench.send([2], to: id)
        _ = try bench.settle()
        bench.send([3], to: id)
        if isClosing { bench.loop.closeAfterFlush(id, lingering: false) }
        let start = bench.loop.output.count
        bench.loop.output.append(9)
        bench.loop.uncork(id, instead: start..<start + 1)
        let events = try bench.settle()
        #expect(events == (isClosing ? [.closed(id, .finished)] : []))
        #expect(peer.received == [1, 9])
        #expect(bench.loop.unsentByteTotal == 0)
    }

    @Test("corks of a connection that is gone mean nothing to the next one in its slot")
    func generation() throws {
        var bench = try LoopBench()
        let (gone, _) = try bench.connect()
        bench.loop.cork(gone)
        bench.loop.close(gone)
        _ = try bench.settle()
        let (id, peer) = try bench.connect()
        #expect(id.index == gone.index)
        bench.loop.cork(gone)
        bench.send([1], to: id)
        _ = try bench.settle()
        #expect(peer.received == [1])
        bench.loop.cork(id)
        bench.loop.uncork(gone)
        bench.send([2], to: id)
        _ = try bench.settle()
        #expect(peer.received == [1])
    }
}

@Suite("EventLoop: room again")
struct RoomTests {
    @Test("who asks is told once after the flush if few bytes are unsent, else when they are")
    func asked() throws {
        var configuration = LoopConfiguration()
        configuration.highWaterByteCount = 10
        configuration.lowWaterByteCount = 4
        var bench = try LoopBench(configuration)
        let (id, peer) = try bench.connect()
        bench.send([1], to: id)
        bench.loop.tellWhenDrained(id)
        #expect(try bench.settle() == [.drained(id)])
        #expect(peer.received == [1])
        peer.writeCapacity = 0
        bench.send(Array(0..<5), to: id)
        bench.loop.tellWhenDrained(id)
        #expect(try bench.settle().isEmpty)
        peer.writeCapacity = 1
        #expect(try bench.settle() == [.drained(id)])
        #expect(try bench.settle().isEmpty)
    }

    @Test("who asks is told once, though the high mark was passed meanwhile")
    func both() throws {
        var configuration = LoopConfiguration()
        configuration.highWaterByteCount = 10
        configuration.lowWaterByteCount = 4
        var bench = try LoopBench(configuration)
        let (id, peer) = try bench.connect()
        peer.writeCapacity = 0
        bench.loop.tellWhenDrained(id)
        bench.send(Array(0..<11), to: id)
        #expect(try bench.settle() == [.overHighWater(id)])
        peer.writeCapacity = .max
        #expect(try bench.settle() == [.drained(id)])
        #expect(try bench.settle().isEmpty)
    }

    @Test("another turn is taken when it is asked for, and only one")
    func turn() throws {
        var bench = try LoopBench()
        _ = try bench.settle()
        bench.loop.takeAnotherTurn()
        #expect(try bench.next() == .turnEnds)
        #expect(try bench.next() == .waiting)
    }
}
