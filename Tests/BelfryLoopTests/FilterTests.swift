import BelfrySystem
import Testing

@testable import BelfryLoop

/// A filter that puts a count before what it seals, adds 100 to each byte, and ends with 255.
private final class CountingFilter: OutputFilter {
    var sealCount = 0
    var forgotten: [ConnectionID] = []
    var ended: [ConnectionID] = []

    func seal(_ output: Span<UInt8>, of connection: ConnectionID, into sealed: inout [UInt8]) {
        sealCount += 1
        sealed.append(UInt8(output.count))
        for index in output.indices { sealed.append(output[index] &+ 100) }
    }

    func end(_ connection: ConnectionID, into sealed: inout [UInt8]) {
        ended.append(connection)
        sealed.append(255)
    }

    func forget(_ connection: ConnectionID) {
        forgotten.append(connection)
    }
}

@Suite("EventLoop: filtered output")
struct FilterTests {
    private func filtered(
        _ configuration: LoopConfiguration = LoopConfiguration()
    ) throws -> (LoopBenchBox, CountingFilter, ConnectionID, EmbeddedPeer) {
        let box = LoopBenchBox(try LoopBench(configuration))
        let filter = CountingFilter()
        box.bench.loop.filter = filter
        let (id, peer) = try box.bench.connect()
        box.bench.loop.filterOutput(of: id)
        return (box, filter, id, peer)
    }

    @Test("all output of a turn is sealed as one, and leaves with one write")
    func oneTurn() throws {
        let (box, filter, id, peer) = try filtered()
        box.bench.loop.output = [0, 1, 2, 3, 4, 5]
        for range in [4..<5, 0..<2, 2..<3] {
            box.bench.loop.send(range, to: id, as: .delivery)
        }
        _ = try box.bench.settle()
        #expect(peer.received == [4, 104, 100, 101, 102])
        #expect(peer.total.writeCount == 1)
        box.bench.send([7], to: id)
        _ = try box.bench.settle()
        #expect(peer.received.suffix(2) == [1, 107])
        #expect(filter.sealCount == 2)
        #expect(box.bench.loop.slots[0].unsent.capacity == 0)
        #expect(box.bench.loop.slots[0].interest == .readable)
        #expect(box.bench.loop.unsentByteTotal == 0)
    }

    @Test("other connections are written as they are, from the same range")
    func others() throws {
        let (box, _, id, peer) = try filtered()
        let (plain, plainPeer) = try box.bench.connect()
        box.bench.loop.output = [1, 2]
        for target in [id, plain] { box.bench.loop.send(0..<2, to: target, as: .delivery) }
        _ = try box.bench.settle()
        #expect(peer.received == [2, 101, 102])
        #expect(plainPeer.received == [1, 2])
    }

    @Test("what the filter itself says leaves before what is sealed by the flush")
    func ownBytes() throws {
        let (box, _, id, peer) = try filtered()
        box.bench.send([1], to: id)
        let own: [UInt8] = [8, 9]
        box.bench.loop.send(sealed: own.span, to: id)
        #expect(box.bench.loop.unsentByteTotal == 2)
        _ = try box.bench.settle()
        #expect(peer.received == [8, 9, 1, 101])
        #expect(peer.total.writeCount == 1)
        box.bench.loop.send(sealed: own.span, to: id)
        _ = try box.bench.settle()
        #expect(peer.received.suffix(2) == [8, 9])
        #expect(box.bench.loop.unsentByteTotal == 0)
    }

    @Test("a full socket takes sealed bytes in order, when it has room")
    func full() throws {
        let (box, _, id, peer) = try filtered()
        peer.writeCapacity = 1
        box.bench.send([1, 2], to: id)
        _ = try box.bench.settle()
        #expect(peer.received == [2])
        #expect(box.bench.loop.unsentByteCount(of: id) == 2)
        let own: [UInt8] = [9]
        box.bench.loop.send(sealed: own.span, to: id)
        box.bench.send([3], to: id)
        _ = try box.bench.settle()
        #expect(box.bench.loop.unsentByteTotal == 5)
        peer.writeCapacity = .max
        _ = try box.bench.settle()
        #expect(peer.received == [2, 101, 102, 9, 1, 103])
        #expect(box.bench.loop.unsentByteTotal == 0)
    }

    @Test("what a corked connection keeps is sealed at the uncorking, and it closes with the end")
    func corked() throws {
        let (box, filter, id, peer) = try filtered()
        box.bench.loop.cork(id)
        box.bench.send([1], to: id)
        _ = try box.bench.settle()
        box.bench.send([2], to: id)
        _ = try box.bench.settle()
        #expect(peer.received.isEmpty)
        #expect(filter.sealCount == 0)
        box.bench.loop.closeAfterFlush(id, lingering: true)
        _ = try box.bench.settle()
        #expect(peer.received.isEmpty)
        box.bench.loop.uncork(id)
        _ = try box.bench.settle()
        #expect(peer.received == [2, 101, 102, 255])
        #expect(peer.sawEndOfOutput)
        #expect(filter.ended == [id])
    }

    @Test("what is replaced is never sealed; what the filter itself says passes it")
    func replaced() throws {
        let (box, filter, id, peer) = try filtered()
        box.bench.loop.cork(id)
        box.bench.send([1], to: id)
        _ = try box.bench.settle()
        let own: [UInt8] = [9]
        box.bench.loop.send(sealed: own.span, to: id)
        _ = try box.bench.settle()
        let start = box.bench.loop.output.count
        box.bench.loop.output.append(2)
        box.bench.loop.uncork(id, instead: start..<start + 1)
        _ = try box.bench.settle()
        #expect(peer.received == [9, 1, 102])
        #expect(filter.sealCount == 1)
        #expect(box.bench.loop.unsentByteTotal == 0)
    }

    @Test("closing seals what was sent, then the end, and ends the output behind it")
    func closing() throws {
        let (box, filter, id, peer) = try filtered()
        peer.writeCapacity = 2
        box.bench.send([1], to: id)
        box.bench.loop.closeAfterFlush(id, lingering: true)
        _ = try box.bench.settle()
        #expect(peer.received == [1, 101])
        #expect(!peer.sawEndOfOutput)
        peer.writeCapacity = 1
        _ = try box.bench.settle()
        #expect(peer.received == [1, 101, 255])
        #expect(peer.sawEndOfOutput)
        peer.halfClose()
        #expect(try box.bench.settle() == [.closed(id, .finished)])
        #expect(filter.ended == [id])
        #expect(filter.forgotten.isEmpty)
    }

    @Test("a connection that is closed without an end is forgotten, whoever closed it")
    func forgotten() throws {
        let (box, filter, id, _) = try filtered()
        box.bench.loop.close(id)
        #expect(filter.forgotten == [id])
        _ = try box.bench.settle()
        let (next, peer) = try box.bench.connect()
        #expect(next.index == id.index)
        box.bench.send([1], to: next)
        _ = try box.bench.settle()
        // The next connection in the slot is a plain one.
        #expect(peer.received == [1])
        box.bench.loop.filterOutput(of: next)
        peer.reset()
        #expect(try box.bench.settle() == [.closed(next, .reset)])
        #expect(filter.forgotten == [id, next])
        #expect(filter.ended.isEmpty)
    }

    @Test("an arena that is flushed early is sealed in the order of the flushes")
    func early() throws {
        var configuration = LoopConfiguration()
        configuration.outputByteLimit = 4
        let (box, filter, id, peer) = try filtered(configuration)
        box.bench.send([1, 2, 3, 4, 5], to: id)
        box.bench.loop.flushEarlyIfNeeded()
        #expect(peer.received == [5, 101, 102, 103, 104, 105])
        box.bench.send([6], to: id)
        _ = try box.bench.settle()
        #expect(peer.received.suffix(2) == [1, 106])
        #expect(filter.sealCount == 2)
    }

    @Test("the marks count sealed bytes")
    func marks() throws {
        var configuration = LoopConfiguration()
        configuration.highWaterByteCount = 3
        configuration.lowWaterByteCount = 1
        let (box, _, id, peer) = try filtered(configuration)
        peer.writeCapacity = 0
        box.bench.send([1, 2], to: id)
        #expect(try box.bench.settle().isEmpty)
        box.bench.send([], to: id)
        let own: [UInt8] = [9]
        box.bench.loop.send(sealed: own.span, to: id)
        #expect(try box.bench.settle() == [.overHighWater(id)])
        peer.writeCapacity = .max
        #expect(try box.bench.settle() == [.drained(id)])
    }
}

/// A bench that several hands can hold.
private final class LoopBenchBox {
    var bench: LoopBench

    init(_ bench: consuming LoopBench) {
        self.bench = bench
    }
}
