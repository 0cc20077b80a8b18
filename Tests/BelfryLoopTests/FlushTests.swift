import BelfrySystem
import Testing

@testable import BelfryLoop

@Suite("EventLoop: output")
struct FlushTests {
    @Test("adjacent ranges of a connection merge into one and leave with one write")
    func merge() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        for byte in UInt8(0)..<100 { bench.send([byte], to: id, as: .delivery) }
        #expect(bench.loop.slots[0].ranges.isEmpty)
        #expect(bench.loop.slots[0].rangeEnd == 100)
        _ = try bench.settle()
        #expect(peer.received == Array(0..<100))
        #expect(peer.total.writeCount == 1)
        #expect(bench.loop.output.isEmpty)
    }

    @Test("ranges that are not adjacent leave in the order of the calls, with one write")
    func spill() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.loop.output = [0, 1, 2, 3, 4, 5]
        for range in [4..<5, 0..<2, 2..<3, 5..<6, 1..<1] {
            bench.loop.send(range, to: id, as: .delivery)
        }
        #expect(bench.loop.slots[0].ranges == [4..<5, 0..<3, 5..<6])
        _ = try bench.settle()
        #expect(peer.received == [4, 0, 1, 2, 5])
        #expect(peer.total.writeCount == 1)
    }

    @Test("frames of a turn lie side by side, whatever is answered between them")
    func framesMerge() throws {
        var bench = try LoopBench()
        let (observer, observerPeer) = try bench.connect()
        let (poster, posterPeer) = try bench.connect()
        for byte in UInt8(0)..<3 {
            bench.loop.frames.append(byte)
            bench.loop.sendFrames(Int(byte)..<Int(byte) + 1, to: observer)
            bench.send([10 + byte], to: poster, as: .answer)
        }
        #expect(bench.loop.slots[0].ranges.isEmpty && bench.loop.slots[0].rangeEnd == 3)
        _ = try bench.settle()
        #expect(observerPeer.received == [0, 1, 2] && observerPeer.total.writeCount == 1)
        #expect(posterPeer.received == [10, 11, 12] && posterPeer.total.writeCount == 1)
        #expect(bench.loop.frames.isEmpty)
    }

    @Test(
        "a connection that gets frames and answers gets them in the order of the calls",
        arguments: [[true, false, true], [false, true, false], [false, true, true]])
    func framesAndAnswers(areFrames: [Bool]) throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        for (place, isFrame) in areFrames.enumerated() {
            if isFrame {
                let start = bench.loop.frames.count
                bench.loop.frames.append(UInt8(place))
                bench.loop.sendFrames(start..<start + 1, to: id)
            } else {
                bench.send([UInt8(place)], to: id, as: .answer)
            }
        }
        _ = try bench.settle()
        #expect(peer.received == [0, 1, 2] && peer.total.writeCount == 1)
        bench.send([3], to: id, as: .answer)
        _ = try bench.settle()
        #expect(peer.received == [0, 1, 2, 3])
    }

    @Test("one range goes to any number of connections")
    func shared() throws {
        var bench = try LoopBench()
        var peers: [EmbeddedPeer] = []
        var ids: [ConnectionID] = []
        for _ in 0..<10 {
            let (id, peer) = try bench.connect()
            ids.append(id)
            peers.append(peer)
        }
        bench.loop.output = [1, 2, 3]
        for id in ids { bench.loop.send(0..<3, to: id, as: .delivery) }
        _ = try bench.settle()
        for peer in peers {
            #expect(peer.received == [1, 2, 3])
            #expect(peer.busiestTurn.writeCount == 1)
        }
    }

    @Test("connections with deliveries alone are written before those with an answer")
    func passes() throws {
        var bench = try LoopBench()
        let (poster, posterPeer) = try bench.connect()
        let (first, firstPeer) = try bench.connect()
        let (second, secondPeer) = try bench.connect()
        bench.send([1], to: poster, as: .delivery)
        bench.send([2], to: first, as: .delivery)
        bench.send([3], to: poster, as: .answer)
        bench.send([4], to: second, as: .delivery)
        _ = try bench.settle()
        #expect(firstPeer.lastWriteSerial == 1)
        #expect(secondPeer.lastWriteSerial == 2)
        #expect(posterPeer.lastWriteSerial == 3)
        #expect(posterPeer.received == [1, 3])
    }

    @Test("what is urgent is written first, unless its connection has an answer too")
    func urgent() throws {
        var bench = try LoopBench()
        let (observer, observerPeer) = try bench.connect()
        let (poster, posterPeer) = try bench.connect()
        let (pinging, pingingPeer) = try bench.connect()
        bench.send([1], to: observer, as: .delivery)
        bench.send([2], to: poster, as: .answer)
        bench.send([3], to: poster, as: .urgent)
        bench.send([4], to: pinging, as: .delivery)
        bench.send([5], to: pinging, as: .urgent)
        _ = try bench.settle()
        #expect(pingingPeer.lastWriteSerial == 1 && pingingPeer.received == [4, 5])
        #expect(observerPeer.lastWriteSerial == 2 && observerPeer.received == [1])
        #expect(posterPeer.lastWriteSerial == 3 && posterPeer.received == [2, 3])
        bench.send([6], to: observer, as: .delivery)
        _ = try bench.settle()
        #expect(observerPeer.received == [1, 6])
    }

    @Test("a stopped reader's output is kept, passes the high mark, drains and arrives in order")
    func backpressure() throws {
        var configuration = LoopConfiguration()
        configuration.highWaterByteCount = 10
        configuration.lowWaterByteCount = 4
        var bench = try LoopBench(configuration)
        let (id, peer) = try bench.connect()
        peer.writeCapacity = 3
        bench.send(Array(0..<13), to: id)
        #expect(try bench.settle().isEmpty)
        #expect(bench.loop.unsentByteCount(of: id) == 10)
        #expect(bench.loop.isBackpressured(id) == false)
        bench.send([13], to: id)
        #expect(try bench.settle() == [.overHighWater(id)])
        #expect(bench.loop.isBackpressured(id) == true)
        #expect(bench.loop.unsentByteTotal == 11)
        bench.send([14], to: id)
        #expect(try bench.settle().isEmpty)
        #expect(peer.total.writeCount == 1)
        peer.writeCapacity = 7
        #expect(try bench.settle().isEmpty)
        #expect(bench.loop.unsentByteCount(of: id) == 5)
        peer.writeCapacity = 1
        #expect(try bench.settle() == [.drained(id)])
        #expect(bench.loop.isBackpressured(id) == false)
        peer.writeCapacity = .max
        #expect(try bench.settle().isEmpty)
        #expect(bench.loop.unsentByteTotal == 0)
        #expect(bench.loop.slots[0].unsent.capacity == 0)
        #expect(bench.loop.slots[0].interest == .readable)
        #expect(peer.received == Array(0..<15))
        #expect(peer.busiestTurn.writeCount == 1)
    }

    @Test("what several ranges could not send is kept from the right byte on", arguments: 0...6)
    func partialRanges(_ capacity: Int) throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        peer.writeCapacity = capacity
        bench.loop.output = [0, 1, 2, 3, 4, 5]
        for range in [3..<6, 0..<1, 2..<4] { bench.loop.send(range, to: id, as: .delivery) }
        _ = try bench.settle()
        #expect(peer.received == Array([3, 4, 5, 0, 2, 3][..<capacity]))
        peer.writeCapacity = .max
        _ = try bench.settle()
        #expect(peer.received == [3, 4, 5, 0, 2, 3])
    }

    @Test("an arena past its limit is flushed before the next event, one at it is not")
    func early() throws {
        var configuration = LoopConfiguration()
        configuration.outputByteLimit = 8
        var bench = try LoopBench(configuration)
        let (id, peer) = try bench.connect()
        peer.send([1])
        #expect(try bench.next() == .received(id, byteCount: 1))
        bench.send(Array(0..<8), to: id)
        #expect(try bench.next() == .turnEnds)
        #expect(peer.received.isEmpty)
        bench.send([8], to: id)
        _ = try bench.next()
        #expect(peer.takeReceived() == Array(0..<9))
        peer.send([1])
        #expect(try bench.next() == .received(id, byteCount: 1))
        bench.send(Array(0..<9), to: id)
        #expect(try bench.next() == .turnEnds)
        #expect(peer.received == Array(0..<9))
    }

    @Test("the arena keeps a small capacity and gives back a large one")
    func capacity() throws {
        var configuration = LoopConfiguration()
        configuration.keptOutputByteLimit = 4096
        var bench = try LoopBench(configuration)
        let (id, _) = try bench.connect()
        bench.send([UInt8](repeating: 0, count: 1000), to: id)
        _ = try bench.settle()
        #expect(bench.loop.output.capacity >= 1000)
        bench.send([UInt8](repeating: 0, count: 10_000), to: id)
        _ = try bench.settle()
        #expect(bench.loop.output.capacity == 0)
    }

    @Test("a write to a peer that is gone closes the connection, once")
    func resetWhileWriting() throws {
        var bench = try LoopBench()
        let (id, peer) = try bench.connect()
        bench.loop.pauseReading(id)
        peer.reset()
        bench.send([1], to: id)
        let events = try bench.settle()
        #expect(events == [.closed(id, .reset)])
        #expect(bench.loop.connectionCount == 0)
    }

    @Test("a slot takes at most 128 bytes")
    func slotSize() {
        #expect(MemoryLayout<ConnectionSlot>.stride <= 128)
    }
}
