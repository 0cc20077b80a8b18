import Testing

@testable import BelfryCenter

// The end of a whole life, and clients that are at another broker before the log has their end.

extension WrittenThroughTests {
    // MARK: A life is over

    @Test(
        "where a life is over, a client is told what it may have missed, if it does not say itself what it has seen",
        arguments: [false, true], [nil, 2, 3] as [UInt64?])
    func uncertain(isRestarted: Bool, after: UInt64?) throws {
        var audience = try LogAudience()
        try audience.connect(2, [Self.observer(), LogAudience.observer("another")])
        try audience.post(count: 2)
        // This is how far the log knows it.
        try audience.write(2, .nothing)
        try audience.post()
        audience.end(LogAudience.connection(1, 2), applied: audience.index)
        try audience.post()
        if isRestarted {
            try audience.restart(2, life: 2)
        } else {
            try audience.write(1, .nodeDown(bytes("n2"), life: 1))
        }
        try audience.post()
        try audience.restore()
        try audience.resume(1, 1, after: after)
        var expected = Self.numbers(1...3)
        if let after {
            expected += Self.again(after + 1...4)
        } else {
            expected.append(.gap(.unknown, 3, 4))
        }
        #expect(audience.frames[1] == expected + [.number(5)])
        #expect(audience.frames[2] == nil)
    }

    @Test("where nothing was dispatched behind what a dead broker had told, nothing is told")
    func nothingInDoubt() throws {
        var audience = try LogAudience()
        try audience.connect(2, [Self.observer()])
        try audience.post(count: 2)
        try audience.write(2, .nothing)
        try audience.write(1, .nodeDown(bytes("n2"), life: 1))
        try audience.post()
        try audience.resume(1, 1)
        #expect(audience.frames[1] == Self.numbers(1...3))
    }

    @Test(
        "what was held, or a loss, and left with an entry that a dead broker may not have applied is in doubt"
    )
    func lateDoubts() throws {
        var audience = try LogAudience()
        try audience.connect(2, [Self.observer(), Self.observer(.drop)])
        try audience.tell(2, .setSuspended(client: 1, true))
        try audience.post(count: 2)
        try audience.write(2, .nothing)
        audience.end(LogAudience.connection(1, 2), applied: audience.index)
        try audience.tell(2, .setSuspended(client: 1, false))
        try audience.write(1, .nodeDown(bytes("n2"), life: 1))
        try audience.restore()
        try audience.resume(1, 1)
        #expect(audience.frames[1] == [.gap(.unknown, 1, 2)])
        #expect(audience.frames[2] == [.gap(.dropped, 1, 2)])
    }

    // MARK: A client that is somewhere else already

    @Test(
        "a client that another broker has before the log knows of its end is told what it may have missed",
        arguments: [nil, 2] as [UInt64?], [false, true])
    func takenOver(after: UInt64?, isOwn: Bool) throws {
        var audience = try LogAudience()
        try audience.connect(2, [Self.observer()])
        try audience.post(count: 2)
        try audience.write(2, .nothing)
        let told = audience.index
        audience.end(LogAudience.connection(1, 2), applied: told)
        try audience.post(count: 2)
        // Its own broker reports its place at the time when another connection took the client.
        try audience.resume(isOwn ? 2 : 1, 1, after: after, applied: isOwn ? told : nil)
        var expected = Self.numbers(1...2)
        if after != nil {
            expected += Self.again(3...4)
        } else {
            expected.append(.gap(.unknown, 3, 4))
        }
        #expect(audience.frames[1] == expected)
        try audience.post()
        let digest = audience.center.digest()
        let index = audience.center.appliedIndex
        try audience.disconnect(2, 1, LogAudience.connection(1, 2), applied: told)
        #expect(audience.center.client(1)?.state == .live)
        #expect(audience.center.client(1)?.held == 0)
        #expect(audience.center.appliedIndex == index + 1 && audience.center.digest() != digest)
        try audience.post()
        #expect(audience.frames[1] == expected + Self.numbers(5...6))
    }

    @Test("a client whose broker has told the log all of it goes elsewhere without a word")
    func takenOverInTime() throws {
        var audience = try LogAudience()
        try audience.connect(2, [Self.observer()])
        try audience.post(count: 2)
        try audience.write(2, .nothing)
        try audience.resume(1, 1)
        try audience.post()
        #expect(audience.frames[1] == Self.numbers(1...3))
    }
}
