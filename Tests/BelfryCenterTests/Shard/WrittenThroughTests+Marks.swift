import Testing

@testable import BelfryCenter

// The marks of how far a connection was written, and their limits.

extension WrittenThroughTests {
    @Test(
        "as many marks as may be tell how far a connection was written; with one more, nobody knows",
        arguments: [0, 1] as [UInt64])
    func markLimit(excess: UInt64) {
        var marks = WrittenMarks()
        for _ in 1...2 { marks.addCenter() }
        for index in 1...UInt64(WrittenMarks.limit) + excess {
            let position = index == 2 ? 0 : 1
            marks.begin(at: position, sequence: 7)
            marks.end(at: position, sequence: 8, of: index)
            marks.endEntry(appliedByAll: 0)
        }
        let connection = LogAudience.connection(1, 1)
        func written(_ index: UInt64) -> WrittenThrough? {
            marks.written(to: connection, through: index, at: 0, sequence: 8, isCertain: true)
        }
        #expect(written(excess)?.sequence == 7 && written(excess)?.isCertain == true)
        #expect(written(2) == nil)
        guard excess > 0 else { return }
        let unknown = written(excess - 1)
        #expect(unknown != nil && unknown?.sequence == nil && unknown?.isCertain == false)
    }

    @Test(
        "what was held is remembered so many times; with one more, nobody knows",
        arguments: [0, 1] as [UInt64])
    func lateLimit(excess: UInt64) {
        let connection = LogAudience.connection(1, 1)
        var marks = WrittenMarks()
        marks.addCenter()
        var effects = Effects()
        let gap = Gap(
            observer: 1, selector: [], lostCount: 1, firstSequence: 1, lastSequence: 1,
            reason: .dropped)
        effects.notices = [.gap(connection: connection, transport: .webSocket, gap)]
        for index in 1...UInt64(WrittenMarks.lateLimit) + excess {
            marks.begin(at: 0, sequence: 7)
            marks.note(effects, at: 0, of: index)
            marks.end(at: 0, sequence: 7, of: index)
            marks.endEntry(appliedByAll: 0)
        }
        func written(_ connection: ConnectionName, _ index: UInt64) -> WrittenThrough? {
            marks.written(to: connection, through: index, at: 0, sequence: 7, isCertain: true)
        }
        let all = written(connection, excess)
        #expect(all?.sequence == 7 && all?.isCertain == true)
        #expect(all?.late.count == WrittenMarks.lateLimit)
        #expect(written(LogAudience.connection(2, 1), excess) == nil)
        guard excess > 0 else { return }
        let unknown = written(connection, excess - 1)
        #expect(unknown != nil && unknown?.sequence == nil && unknown?.isCertain == false)
    }

    @Test("marks go when all that are up have applied their entries, and not much sooner")
    func trimming() throws {
        var (audience, applied) = try Self.begun()
        try audience.post()
        for _ in 1..<WrittenMarks.patience { try audience.write(2, .nothing) }
        var early = audience
        try early.disconnect(2, 1, applied: applied)
        try early.resume(1, 1)
        #expect(early.frames[1] == Self.numbers(1...2) + [.again(3)])
        for _ in 0..<3 { try audience.write(1, .nothing) }
        for _ in 0..<3 { try audience.write(2, .nothing) }
        try audience.disconnect(2, 1, applied: applied)
        try audience.resume(1, 1)
        #expect(audience.frames[1] == Self.numbers(1...2) + [.gap(.unknown, 1, 3)])
    }

    @Test("marks of a center that has ended say nothing of a new one with its name")
    func newCenter() throws {
        var audience = try LogAudience()
        let applied = audience.index
        try audience.post(count: 3)
        try audience.write(
            1, .endCenter(LogAudience.center), .makeCenter(LogAudience.center, epoch: bytes("e2")))
        try audience.connect(2, [Self.observer()])
        #expect(audience.sequence == 0)
        try audience.post()
        try audience.disconnect(2, 1, applied: applied)
        try audience.resume(1, 1)
        #expect(audience.frames[1] == [.number(1), .again(1)])
    }
}
