import BelfryLoop
import BelfrySystem
import Testing

@Suite("EventLoop: who sends much and who sends little")
struct FairnessTests {
    private func configuration(first: Int = 100, turn: Int = 2_000) -> LoopConfiguration {
        var configuration = LoopConfiguration()
        configuration.firstReadByteLimit = first
        configuration.turnInputByteLimit = turn
        return configuration
    }

    /// The bytes that one turn reads of each connection.
    private func turn(_ bench: inout LoopBench) throws -> [ConnectionID: Int] {
        var read: [ConnectionID: Int] = [:]
        while true {
            switch try bench.next() {
            case .received(let id, let byteCount): read[id, default: 0] += byteCount
            case .turnEnds, .waiting: return read
            default: continue
            }
        }
    }

    @Test("the first read is a small one; after a full one a connection is read by whole buffers")
    func firstRead() throws {
        var bench = try LoopBench(configuration())
        let (id, peer) = try bench.connect()
        peer.send([UInt8](repeating: 1, count: 2_300))
        #expect(try turn(&bench) == [id: 100])
        #expect(try turn(&bench) == [id: 1_024])
        #expect(try turn(&bench) == [id: 1_024])
        #expect(try turn(&bench) == [id: 152])
    }

    @Test("those that send much share what a turn reads, and each comes to its turn")
    func turns() throws {
        var bench = try LoopBench(configuration())
        var peers: [(id: ConnectionID, peer: EmbeddedPeer)] = []
        for _ in 0..<10 { peers.append(try bench.connect()) }
        for peer in peers { peer.peer.send([UInt8](repeating: 1, count: 5_000)) }
        #expect(try turn(&bench).values.allSatisfy { $0 == 100 })
        var total: [ConnectionID: Int] = [:]
        for _ in 0..<5 {
            let read = try turn(&bench)
            // At the limit nothing more is read; the last read may pass it by one buffer.
            #expect(read.values.reduce(0, +) <= 2_048)
            #expect(read.count == 2)
            total.merge(read) { $0 + $1 }
        }
        #expect(total.count == 10)
        #expect(total.values.allSatisfy { $0 == 1_024 })
    }

    @Test("who sends little is read in every turn, however many send much")
    func little() throws {
        var bench = try LoopBench(configuration())
        var peers: [EmbeddedPeer] = []
        for _ in 0..<50 { peers.append(try bench.connect().peer) }
        let (quiet, quietPeer) = try bench.connect()
        for peer in peers { peer.send([UInt8](repeating: 1, count: 20_000)) }
        _ = try turn(&bench)
        for _ in 0..<100 {
            quietPeer.send([1, 2, 3])
            #expect(try turn(&bench)[quiet] == 3)
        }
    }

    @Test("after some small reads a connection is one that sends little again")
    func recovery() throws {
        var bench = try LoopBench(configuration())
        let (id, peer) = try bench.connect()
        peer.send([UInt8](repeating: 1, count: 150))
        #expect(try turn(&bench) == [id: 100])
        #expect(try turn(&bench) == [id: 50])
        for _ in 0..<7 {
            peer.send([1])
            #expect(try turn(&bench) == [id: 1])
        }
        peer.send([UInt8](repeating: 1, count: 150))
        #expect(try turn(&bench) == [id: 100])
    }

    @Test("a connection that is closed or paused in the line is passed over")
    func closedInLine() throws {
        var bench = try LoopBench(configuration(turn: 1))
        var peers: [(id: ConnectionID, peer: EmbeddedPeer)] = []
        for _ in 0..<4 { peers.append(try bench.connect()) }
        for peer in peers { peer.peer.send([UInt8](repeating: 1, count: 3_000)) }
        _ = try turn(&bench)
        #expect(try turn(&bench) == [peers[0].id: 1_024])
        bench.loop.close(peers[1].id)
        bench.loop.pauseReading(peers[2].id)
        #expect(try turn(&bench) == [peers[3].id: 1_024])
        bench.loop.resumeReading(peers[2].id)
        _ = try bench.settle()
        #expect(peers[0].peer.total.readByteCount == 3_000)
        #expect(peers[2].peer.total.readByteCount == 3_000)
        #expect(peers[3].peer.total.readByteCount == 3_000)
    }

    @Test("a connection past all limits is told so at once and closed; it costs no slot")
    func refusal() throws {
        var settings = LoopConfiguration()
        settings.connectionLimit = 1
        settings.refusalLimit = 1
        let kernel = EmbeddedKernel()
        var loop = try EventLoop(settings, kernel: .embedded(kernel))
        loop.reportsIdle = false
        _ = try loop.listen(on: .loopback(port: 0), refusal: [5, 0, 3])
        let peers = (0..<5).map { _ in kernel.connect() }
        peers[3].send([1, 2, 3])
        var input = [UInt8](repeating: 0, count: 64)
        var events: [LoopEvent] = []
        while true {
            let event = try loop.nextEvent(into: &input)
            if event == .waiting { break }
            if event != .turnEnds { events.append(event) }
        }
        #expect(events.count == 2)
        #expect(loop.directRefusalCount == 3)
        for peer in peers[2...] {
            #expect(peer.received == [5, 0, 3])
            #expect(peer.sawEndOfOutput)
            #expect(peer.isClosed)
        }
        #expect(peers[3].total.readByteCount == 3)
        #expect(!peers[1].isClosed)
    }

    @Test("output for one connection is bounded within a turn: past it the connection is cut")
    func connectionBytes() throws {
        var settings = LoopConfiguration()
        settings.connectionByteLimit = 100
        var bench = try LoopBench(settings)
        let (id, peer) = try bench.connect()
        peer.writeCapacity = 0
        bench.send([UInt8](repeating: 1, count: 60), to: id)
        bench.send([UInt8](repeating: 1, count: 40), to: id)
        _ = try bench.settle()
        #expect(bench.loop.unsentByteCount(of: id) == 100)
        bench.send([1], to: id)
        #expect(try bench.settle() == [.closed(id, .tooMuchOutput)])
        #expect(peer.isClosed)
        #expect(bench.loop.unsentByteTotal == 0)
    }

    @Test("a connection that asks for much work lets others go first, although it sends little")
    func work() throws {
        var bench = try LoopBench(configuration(turn: 1))
        let (costly, costlyPeer) = try bench.connect()
        let (other, otherPeer) = try bench.connect()
        bench.loop.letOthersGoFirst(costly)
        costlyPeer.send([1])
        otherPeer.send([2])
        #expect(try bench.next() == .received(other, byteCount: 1))
        #expect(try bench.next() == .received(costly, byteCount: 1))
    }
}
