import BelfrySystem
import Testing

@testable import BelfryLoop

/// Frames that go to the same connections one after the other are noted once for all of them.
@Suite("EventLoop: rows of frames")
struct FrameRowTests {
    /// A bench with connections that all get frames.
    struct RowBench: ~Copyable {
        var bench: LoopBench
        var ids: [ConnectionID] = []
        var peers: [EmbeddedPeer] = []

        init(_ configuration: LoopConfiguration = LoopConfiguration(), count: Int = 4) throws {
            var bench = try LoopBench(configuration)
            for _ in 0..<count {
                let (id, peer) = try bench.connect()
                ids.append(id)
                peers.append(peer)
            }
            self.bench = bench
        }

        mutating func sendFrame(_ bytes: [UInt8], to places: Range<Int>? = nil) {
            let start = bench.loop.frames.count
            bench.loop.frames += bytes
            let ids = Array(ids[places ?? ids.indices])
            bench.loop.sendFrames(start..<bench.loop.frames.count, to: ids)
        }
    }

    @Test("frames for one row leave in their order, with one write for each connection")
    func oneRow() throws {
        var row = try RowBench()
        for byte in UInt8(1)...3 { row.sendFrame([byte, byte]) }
        #expect(row.bench.loop.row.rest == 2..<6)
        _ = try row.bench.settle()
        for peer in row.peers {
            #expect(peer.received == [1, 1, 2, 2, 3, 3] && peer.total.writeCount == 1)
        }
        #expect(row.bench.loop.row.ids.isEmpty)
        row.sendFrame([4])
        _ = try row.bench.settle()
        for peer in row.peers { #expect(peer.received == [1, 1, 2, 2, 3, 3, 4]) }
    }

    @Test("another row, and the first one again, keep the order of each connection")
    func otherRows() throws {
        var row = try RowBench()
        row.sendFrame([1])
        row.sendFrame([2])
        row.sendFrame([3], to: 1..<3)
        row.sendFrame([4], to: 1..<3)
        row.sendFrame([5])
        row.sendFrame([6])
        _ = try row.bench.settle()
        for (place, peer) in row.peers.enumerated() {
            let isInBoth = place == 1 || place == 2
            #expect(peer.received == (isInBoth ? [1, 2, 3, 4, 5, 6] : [1, 2, 5, 6]))
            #expect(peer.total.writeCount == 1)
        }
    }

    @Test("what is answered or delivered to one of a row comes behind the frames before it")
    func besides() throws {
        var row = try RowBench()
        row.sendFrame([1])
        row.sendFrame([2])
        row.bench.send([3], to: row.ids[0])
        row.sendFrame([4])
        row.sendFrame([5])
        let start = row.bench.loop.frames.count
        row.bench.loop.frames.append(6)
        row.bench.loop.sendFrames(start..<start + 1, to: row.ids[1])
        row.sendFrame([7])
        row.sendFrame([8])
        _ = try row.bench.settle()
        #expect(row.peers[0].received == [1, 2, 3, 4, 5, 7, 8])
        #expect(row.peers[1].received == [1, 2, 4, 5, 6, 7, 8])
        #expect(row.peers[2].received == [1, 2, 4, 5, 7, 8])
        for peer in row.peers { #expect(peer.total.writeCount == 1) }
    }

    @Test("who was answered first gets the frames of a row behind that")
    func answeredFirst() throws {
        var row = try RowBench()
        row.bench.send([0], to: row.ids[3])
        for byte in UInt8(1)...3 { row.sendFrame([byte]) }
        _ = try row.bench.settle()
        #expect(row.peers[0].received == [1, 2, 3])
        #expect(row.peers[3].received == [0, 1, 2, 3] && row.peers[3].total.writeCount == 1)
    }

    @Test("who is closed after the flush gets what came before, who is closed at once nothing")
    func closing() throws {
        var row = try RowBench()
        row.sendFrame([1])
        row.sendFrame([2])
        row.bench.loop.closeAfterFlush(row.ids[0], lingering: false)
        row.bench.loop.close(row.ids[1])
        row.sendFrame([3])
        row.sendFrame([4])
        #expect(try row.bench.settle() == [.closed(row.ids[0], .finished)])
        #expect(row.peers[0].received == [1, 2])
        #expect(row.peers[1].received.isEmpty)
        #expect(row.peers[2].received == [1, 2, 3, 4])
    }

    @Test("a row counts for the bytes that one connection may have, at the limit and past it")
    func limit() throws {
        var configuration = LoopConfiguration()
        configuration.connectionByteLimit = 10
        var row = try RowBench(configuration, count: 2)
        for _ in 0..<2 { row.sendFrame([1, 2, 3, 4, 5]) }
        #expect(try row.bench.settle().isEmpty)
        #expect(row.peers[0].received.count == 10)
        row.peers[0].writeCapacity = 0
        for _ in 0..<2 { row.sendFrame([1, 2, 3, 4, 5]) }
        #expect(try row.bench.settle().isEmpty)
        row.sendFrame([6], to: 1..<2)
        row.sendFrame([7])
        #expect(try row.bench.settle() == [.closed(row.ids[0], .tooMuchOutput)])
        #expect(row.peers[1].received.suffix(2) == [6, 7])
    }
}
