import BelfrySystem
import Testing

@testable import BelfryLoop

@Suite("EventLoop: connections")
struct ConnectionTests {
    @Test("a connection is read once a turn, by at most a buffer")
    func oneRead() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        peer.send([UInt8](repeating: 7, count: 2500))
        let events = try bench.settle()
        let expected = [1024, 1024, 452].map { LoopEvent.received(id, byteCount: $0) }
        #expect(events == expected)
        #expect(peer.busiestTurn.readCount == 1)
        #expect(peer.busiestTurn.readByteCount == 1024)
    }

    @Test("a half-closed peer is told once and can still be answered")
    func halfClose() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        peer.send([1])
        peer.halfClose()
        let events = try bench.settle()
        #expect(events == [.received(id, byteCount: 1), .endOfInput(id)])
        bench.send([2], to: id)
        #expect(try bench.settle().isEmpty)
        #expect(peer.received == [2])
        bench.loop.closeAfterFlush(id, lingering: true)
        #expect(try bench.settle() == [.closed(id, .finished)])
        #expect(peer.isClosed)
    }

    @Test("a reset is told once", arguments: [false, true])
    func reset(isPaused: Bool) throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        if isPaused { bench.loop.pauseReading(id) }
        peer.reset()
        #expect(try bench.settle() == [.closed(id, .reset)])
        #expect(try bench.settle().isEmpty)
        #expect(bench.loop.connectionCount == 0)
    }

    @Test("an id that is out of date names nothing, even when its slot is used again")
    func generations() throws {
        var bench = try LoopBench()
        let (old, oldPeer) = try bench.connect()
        bench.loop.close(old)
        #expect(oldPeer.isClosed)
        #expect(try bench.settle().isEmpty)
        let (new, newPeer) = try bench.connect()
        #expect(new.index == old.index)
        #expect(new.generation != old.generation)
        bench.send([1], to: old)
        bench.loop.pauseReading(old)
        bench.loop.closeAfterFlush(old, lingering: false)
        bench.loop.setDeadline(old, at: bench.loop.now)
        bench.loop.close(old)
        #expect(bench.loop.peer(of: old) == nil)
        #expect(bench.loop.peer(of: new)?.address == newPeer.address)
        newPeer.send([1])
        #expect(try bench.settle() == [.received(new, byteCount: 1)])
        #expect(newPeer.received.isEmpty)
    }

    @Test("events of a connection that is closed in the same turn do not come")
    func closedInTurn() throws {
        var bench = try LoopBench()
        let (first, firstPeer) = try bench.connect()
        let (second, secondPeer) = try bench.connect()
        firstPeer.send([1])
        secondPeer.send([2])
        #expect(try bench.next() == .received(first, byteCount: 1))
        bench.send([3], to: second)
        bench.loop.close(second)
        // The slot is not used again before the turn has ended.
        let third = try bench.loop.connect(to: .loopback(port: 1))
        #expect(third.index != second.index)
        #expect(try bench.settle().isEmpty)
        #expect(secondPeer.received.isEmpty)
    }

    @Test("a paused connection is not read until it is resumed")
    func pause() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.loop.pauseReading(id)
        peer.send([1])
        #expect(try bench.settle().isEmpty)
        bench.loop.resumeReading(id)
        #expect(try bench.settle() == [.received(id, byteCount: 1)])
    }

    @Test(
        "the end of a connection that is paused is told once in a pause, and its input comes later")
    func endInPause() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.loop.pauseReading(id)
        peer.send([1])
        #expect(try bench.settle().isEmpty)
        peer.close()
        #expect(try bench.settle() == [.endAhead(id)])
        #expect(try bench.settle().isEmpty)
        bench.loop.resumeReading(id)
        bench.loop.pauseReading(id)
        #expect(try bench.settle() == [.endAhead(id)])
        bench.loop.resumeReading(id)
        #expect(try bench.settle() == [.received(id, byteCount: 1), .endOfInput(id)])
    }

    @Test("closing after the flush discards input and sends everything first")
    func closeAfterFlush() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        peer.writeCapacity = 1
        bench.send([1, 2, 3], to: id)
        bench.loop.closeAfterFlush(id, lingering: false)
        bench.send([4], to: id)
        peer.send([9])
        #expect(try bench.settle().isEmpty)
        peer.writeCapacity = .max
        #expect(try bench.settle() == [.closed(id, .finished)])
        #expect(peer.received == [1, 2, 3])
    }

    @Test("a closing connection that cannot be flushed is closed in time")
    func closeTimeout() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        peer.writeCapacity = 0
        bench.send([1], to: id)
        bench.loop.closeAfterFlush(id, lingering: true)
        #expect(try bench.settle().isEmpty)
        bench.kernel.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(try bench.settle().isEmpty)
        bench.kernel.advance(by: .nanoseconds(1))
        #expect(try bench.settle() == [.closed(id, .timedOut)])
    }

    @Test("lingering ends with the peer's end")
    func lingerToEnd() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.send([1], to: id)
        bench.loop.closeAfterFlush(id, lingering: true)
        #expect(try bench.settle().isEmpty)
        #expect(peer.sawEndOfOutput && !peer.isClosed)
        peer.send([2, 3])
        #expect(try bench.settle().isEmpty)
        peer.halfClose()
        #expect(try bench.settle() == [.closed(id, .finished)])
        #expect(peer.isClosed)
    }

    @Test("lingering ends after two seconds")
    func lingerToDeadline() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.loop.closeAfterFlush(id, lingering: true)
        #expect(try bench.settle().isEmpty)
        bench.kernel.advance(by: .milliseconds(1_999))
        #expect(try bench.settle().isEmpty)
        bench.kernel.advance(by: .milliseconds(1))
        #expect(try bench.settle() == [.closed(id, .finished)])
        #expect(peer.isClosed)
    }

    @Test("lingering discards up to its limit and not one byte more")
    func lingerToLimit() throws {
        var configuration = LoopConfiguration()
        configuration.lingerByteLimit = 100
        var bench = try LoopBench(configuration)
        let (id, peer) = try bench.connect()
        bench.loop.closeAfterFlush(id, lingering: true)
        peer.send([UInt8](repeating: 0, count: 100))
        #expect(try bench.settle().isEmpty)
        peer.send([0])
        #expect(try bench.settle() == [.closed(id, .finished)])
    }

    @Test("a connection that the loop asked for is told when it is there")
    func connecting() throws {
        var bench = try LoopBench()
        let id = try bench.loop.connect(to: .loopback(port: 9))
        bench.send([1, 2], to: id)
        #expect(try bench.settle().isEmpty)
        let peer = try #require(bench.kernel.takeAttempt())
        #expect(peer.received.isEmpty)
        peer.completeAttempt()
        #expect(try bench.settle() == [.connected(id)])
        #expect(peer.received == [1, 2])
        peer.send([3])
        #expect(try bench.settle() == [.received(id, byteCount: 1)])
    }

    @Test("a connection attempt that fails is told with its error")
    func connectFails() throws {
        var bench = try LoopBench()
        let id = try bench.loop.connect(to: .loopback(port: 9))
        let peer = try #require(bench.kernel.takeAttempt())
        peer.refuseAttempt(errno: 111)
        #expect(try bench.settle() == [.closed(id, .failed(errno: 111))])
        #expect(bench.loop.connectionCount == 0)
    }

    @Test("a connection at the limit is accepted, one past it refused, one past the reserve closed")
    func connectionLimit() throws {
        var configuration = LoopConfiguration()
        configuration.connectionLimit = 2
        configuration.refusalLimit = 1
        var bench = try LoopBench(configuration)
        let peers = (0..<4).map { _ in bench.kernel.connect() }
        let events = try bench.settle()
        try #require(events.count == 3)
        let ids = (0..<3).map { ConnectionID(index: $0, generation: 0) }
        #expect(events[0] == .accepted(ids[0], listener: 0))
        #expect(events[1] == .accepted(ids[1], listener: 0))
        #expect(events[2] == .refused(ids[2], listener: 0))
        #expect(peers.map(\.isClosed) == [false, false, false, true])
        #expect(bench.loop.connectionCount == 2)
        bench.send([5, 0, 3], to: ids[2])
        bench.loop.closeAfterFlush(ids[2], lingering: false)
        #expect(try bench.settle() == [.closed(ids[2], .finished)])
        #expect(peers[2].received == [5, 0, 3])
        bench.loop.close(ids[0])
        _ = try bench.connect()
    }

    @Test("a listener takes only so many connections in a turn")
    func acceptLimit() throws {
        var configuration = LoopConfiguration()
        configuration.acceptLimit = 3
        var bench = try LoopBench(configuration)
        for _ in 0..<4 { _ = bench.kernel.connect() }
        var counts = [0]
        while true {
            let event = try bench.next()
            if event == .waiting { break }
            if event == .turnEnds { counts.append(0) } else { counts[counts.count - 1] += 1 }
        }
        #expect(counts == [3, 1, 0])
    }

    @Test("listeners rest when descriptors run out, until the time is over")
    func exhaustion() throws {
        var bench = try LoopBench()
        bench.kernel.acceptFailure = 24
        _ = bench.kernel.connect()
        #expect(try bench.settle().isEmpty)
        let count = bench.kernel.acceptCount
        #expect(try bench.settle().isEmpty)
        bench.kernel.advance(by: .milliseconds(99))
        #expect(try bench.settle().isEmpty)
        #expect(bench.kernel.acceptCount == count)
        #expect(bench.loop.exhaustionCount == 1)
        bench.kernel.acceptFailure = nil
        bench.kernel.advance(by: .milliseconds(1))
        #expect(try bench.settle().count == 1)
    }

    @Test("resting listeners accept again when a connection closes")
    func exhaustionEnds() throws {
        var bench = try LoopBench()
        let (id, _) = try bench.connect()
        bench.kernel.acceptFailure = 24
        _ = bench.kernel.connect()
        #expect(try bench.settle().isEmpty)
        bench.kernel.acceptFailure = nil
        bench.loop.close(id)
        #expect(try bench.settle().count == 1)
    }

    @Test("a loop that stopped listening serves its connections on")
    func stopListening() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.loop.stopListening()
        peer.send([1])
        #expect(try bench.settle() == [.received(id, byteCount: 1)])
    }
}
