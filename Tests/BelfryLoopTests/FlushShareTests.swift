import BelfrySystem
import Testing

@testable import BelfryLoop

/// A flush without a share of time lets another turn in after each 32 connections.
@Suite("EventLoop: a flush that takes long")
struct FlushShareTests {
    /// How many connections are written before the loop looks what is ready.
    private static let shareCount = 32

    private static var configuration: LoopConfiguration {
        var configuration = LoopConfiguration()
        configuration.flushShare = .zero
        return configuration
    }

    /// A loop with observers and a poster, whose bytes begin its turns.
    private struct Hall: ~Copyable {
        var bench: LoopBench
        var ids: [ConnectionID] = []
        var peers: [EmbeddedPeer] = []
        let poster: ConnectionID
        let posterPeer: EmbeddedPeer

        init(observerCount: Int) throws {
            var bench = try LoopBench(FlushShareTests.configuration)
            for _ in 0..<observerCount {
                let (id, peer) = try bench.connect()
                ids.append(id)
                peers.append(peer)
            }
            (poster, posterPeer) = try bench.connect()
            self.bench = bench
        }

        var writtenCount: Int { peers.count { !$0.received.isEmpty } }

        mutating func deliver(_ byte: UInt8) {
            let start = bench.loop.frames.count
            bench.loop.frames.append(byte)
            bench.loop.sendFrames(start..<bench.loop.frames.count, to: ids)
        }

        /// Continues to the end of a turn's callouts.
        mutating func awaitTurnEnd() throws -> [LoopEvent] {
            var events: [LoopEvent] = []
            while true {
                let event = try bench.next()
                if event == .turnEnds { return events }
                events.append(event)
            }
        }

        /// Has a turn at its end, with a delivery to all observers that is not written yet.
        mutating func awaitTurnEnd(delivering byte: UInt8) throws {
            posterPeer.send([1])
            _ = try awaitTurnEnd()
            deliver(byte)
        }

        /// Interrupts the flush by what the poster sends.
        mutating func interrupt() throws {
            posterPeer.send([2])
            #expect(try bench.next() == .received(poster, byteCount: 1))
        }
    }

    @Test("what is ready is handed out between two shares, and what is urgent leaves first")
    func urgent() throws {
        var hall = try Hall(observerCount: 100)
        try hall.awaitTurnEnd(delivering: 7)
        try hall.interrupt()
        #expect(hall.writtenCount == Self.shareCount)
        hall.bench.send([9], to: hall.poster, as: .urgent)
        #expect(try hall.bench.next() == .turnEnds)
        #expect(hall.posterPeer.received.isEmpty)
        try hall.interrupt()
        #expect(hall.posterPeer.lastWriteSerial == UInt64(Self.shareCount + 1))
        _ = try hall.bench.settle()
        #expect(hall.peers.allSatisfy { $0.received == [7] && $0.busiestTurn.writeCount == 1 })
    }

    @Test("with nothing ready it goes on to its end")
    func undisturbed() throws {
        var hall = try Hall(observerCount: 200)
        try hall.awaitTurnEnd(delivering: 7)
        #expect(try hall.bench.settle().isEmpty)
        #expect(hall.writtenCount == 200)
    }

    @Test("after a long turn much is written before it looks")
    func longTurn() throws {
        var hall = try Hall(observerCount: 100)
        try hall.interrupt()
        hall.bench.kernel.advance(by: .milliseconds(3))
        #expect(try hall.bench.next() == .turnEnds)
        hall.deliver(7)
        // Time does not pass while it writes, so a third of the turn is enough for all.
        try hall.interrupt()
        #expect(hall.writtenCount == 100)
    }

    @Test("who did not get the first frame yet gets it with the second one, in one write")
    func joined() throws {
        var hall = try Hall(observerCount: 100)
        try hall.awaitTurnEnd(delivering: 7)
        try hall.interrupt()
        hall.deliver(8)
        _ = try hall.bench.settle()
        #expect(hall.peers.allSatisfy { $0.received == [7, 8] })
        #expect(hall.peers.count { $0.total.writeCount == 1 } == 100 - Self.shareCount)
        #expect(hall.peers.count { $0.total.writeCount == 2 } == Self.shareCount)
    }

    @Test("answers leave after the deliveries of their turn, also those that came amid a flush")
    func answers() throws {
        var hall = try Hall(observerCount: 100)
        let (second, secondPeer) = try hall.bench.connect()
        try hall.awaitTurnEnd(delivering: 7)
        hall.bench.send([1], to: hall.poster, as: .answer)
        // It has a delivery of the first turn, and gets its answer in the second.
        hall.bench.send([2], to: second, as: .delivery)
        secondPeer.send([2])
        #expect(try hall.bench.next() == .received(second, byteCount: 1))
        hall.deliver(8)
        hall.bench.send([3], to: second, as: .answer)
        #expect(try hall.bench.next() == .turnEnds)
        _ = try hall.bench.settle()
        #expect(hall.peers.allSatisfy { $0.received == [7, 8] })
        #expect(hall.posterPeer.received == [1])
        #expect(secondPeer.received == [2, 3])
        #expect(secondPeer.total.writeCount == 2, "its delivery does not wait for its answer")
        let last = hall.peers.map(\.lastWriteSerial).max() ?? 0
        let lastOfFirstTurn = hall.peers[99].lastWriteSerial
        #expect(hall.posterPeer.lastWriteSerial > lastOfFirstTurn)
        #expect(hall.posterPeer.lastWriteSerial < last, "it does not wait for the second turn")
        #expect(secondPeer.lastWriteSerial > last)
    }

    @Test("who has an answer that is not written yet is not read before it is")
    func backpressure() throws {
        var hall = try Hall(observerCount: 100)
        let (other, otherPeer) = try hall.bench.connect()
        try hall.awaitTurnEnd(delivering: 7)
        hall.bench.send([1], to: hall.poster, as: .answer)
        hall.posterPeer.send([2])
        otherPeer.send([3])
        #expect(try hall.bench.next() == .received(other, byteCount: 1))
        #expect(hall.posterPeer.received.isEmpty)
        while true {
            let event = try hall.bench.next()
            if event == .turnEnds { continue }
            #expect(event == .received(hall.poster, byteCount: 1))
            break
        }
        #expect(hall.posterPeer.received == [1])
        #expect(hall.writtenCount == 100)
    }

    @Test("an answer amid a flush waits for the deliveries of its turn, also behind another one")
    func secondAnswer() throws {
        var hall = try Hall(observerCount: 100)
        let (other, otherPeer) = try hall.bench.connect()
        try hall.awaitTurnEnd(delivering: 7)
        hall.bench.send([1], to: hall.poster, as: .answer)
        otherPeer.send([2])
        #expect(try hall.bench.next() == .received(other, byteCount: 1))
        let posterWaits = hall.bench.loop.mustBeWrittenFirst(hall.poster)
        let otherWaits = hall.bench.loop.mustBeWrittenFirst(other)
        #expect(posterWaits && !otherWaits)
        // The poster has its answer: no read was needed for it.
        hall.deliver(8)
        hall.bench.send([2], to: hall.poster, as: .answer)
        _ = try hall.bench.settle()
        #expect(hall.posterPeer.received == [1, 2])
        let last = hall.peers.map(\.lastWriteSerial).max() ?? 0
        #expect(hall.posterPeer.lastWriteSerial > last)
        let stillWaits = hall.bench.loop.mustBeWrittenFirst(hall.poster)
        #expect(!stillWaits)
    }

    @Test("a flush that is interrupted without end keeps no list of those that are done")
    func endless() throws {
        var hall = try Hall(observerCount: 100)
        hall.posterPeer.send([1])
        _ = try hall.awaitTurnEnd()
        for round in 0..<1_000 {
            hall.deliver(UInt8(truncatingIfNeeded: round))
            try hall.interrupt()
            #expect(hall.bench.loop.dirty.count <= 200)
            if round < 999 { #expect(try hall.bench.next() == .turnEnds) }
        }
        _ = try hall.bench.settle()
        #expect(hall.peers.allSatisfy { $0.received.count == 1_000 })
    }

    @Test("slots of closed connections are used again though the flush goes on")
    func reusedSlots() throws {
        var hall = try Hall(observerCount: 100)
        hall.posterPeer.send([1])
        _ = try hall.awaitTurnEnd()
        let slotCount = hall.bench.loop.slots.count
        for _ in 0..<50 {
            hall.deliver(7)
            _ = hall.bench.kernel.connect()
            var visitors: [ConnectionID] = []
            for case .accepted(let id, _) in try hall.awaitTurnEnd() { visitors.append(id) }
            #expect(visitors.count == 1 && hall.bench.loop.isAmidFlush)
            for id in visitors { hall.bench.loop.close(id) }
        }
        #expect(hall.bench.loop.slots.count <= slotCount + 3)
    }

    @Test("connections that are closed amid a flush are left out, and their places are not taken")
    func closed() throws {
        var hall = try Hall(observerCount: 100)
        try hall.awaitTurnEnd(delivering: 7)
        try hall.interrupt()
        hall.bench.loop.close(hall.ids[99])
        let late = hall.bench.kernel.connect()
        _ = try hall.bench.settle()
        #expect(hall.peers[99].received.isEmpty && late.received.isEmpty)
        #expect(hall.peers[0..<99].allSatisfy { $0.received == [7] })
    }

    @Test("little that comes amid a flush goes before the rest of it, a delivery before its answer")
    func late() throws {
        var hall = try Hall(observerCount: 100)
        let (other, otherPeer) = try hall.bench.connect()
        try hall.awaitTurnEnd(delivering: 7)
        try hall.interrupt()
        hall.bench.send([9], to: hall.poster, as: .answer)
        hall.bench.send([8], to: other, as: .delivery)
        #expect(try hall.bench.next() == .turnEnds)
        try hall.interrupt()
        #expect(otherPeer.lastWriteSerial == UInt64(Self.shareCount + 1))
        #expect(hall.posterPeer.lastWriteSerial == UInt64(Self.shareCount + 2))
        #expect(hall.writtenCount == 2 * Self.shareCount)
        _ = try hall.bench.settle()
        #expect(hall.peers.allSatisfy { $0.received == [7] && $0.total.writeCount == 1 })
    }

    @Test("an answer amid a flush waits where a delivery of its turn does, and nothing else")
    func lateAndJoined() throws {
        var hall = try Hall(observerCount: 100)
        let (other, otherPeer) = try hall.bench.connect()
        try hall.awaitTurnEnd(delivering: 7)
        try hall.interrupt()
        hall.bench.send([8], to: hall.ids[99], as: .delivery)
        hall.bench.send([8], to: other, as: .delivery)
        hall.bench.send([9], to: hall.poster, as: .answer)
        #expect(try hall.bench.next() == .turnEnds)
        _ = try hall.bench.settle()
        #expect(otherPeer.lastWriteSerial == UInt64(Self.shareCount + 1))
        #expect(hall.peers[99].received == [7, 8])
        #expect(hall.posterPeer.received == [9])
        #expect(hall.posterPeer.lastWriteSerial > hall.peers[99].lastWriteSerial)
    }

    @Test("what comes amid a flush for more than a share is behind it", arguments: [0, 1])
    func lateAndMany(more: Int) throws {
        var hall = try Hall(observerCount: 100)
        var others: [(id: ConnectionID, peer: EmbeddedPeer)] = []
        for _ in 0..<Self.shareCount + more { others.append(try hall.bench.connect()) }
        try hall.awaitTurnEnd(delivering: 7)
        try hall.interrupt()
        for other in others { hall.bench.send([8], to: other.id, as: .delivery) }
        #expect(try hall.bench.next() == .turnEnds)
        _ = try hall.bench.settle()
        let last = others.map(\.peer.lastWriteSerial).max() ?? 0
        #expect(last == UInt64(more == 0 ? 2 * Self.shareCount : 100 + others.count))
    }

    @Test("an arena past its limit is flushed to the end, whatever is ready")
    func full() throws {
        var configuration = Self.configuration
        configuration.outputByteLimit = 4
        var bench = try LoopBench(configuration)
        let connections = try (0..<100).map { _ in try bench.connect() }
        for (id, _) in connections { bench.send([1], to: id, as: .delivery) }
        connections[0].peer.send([1])
        _ = try bench.next()
        #expect(connections.allSatisfy { $0.peer.received == [1] })
    }
}
