import BelfryJSON
import Testing

@testable import BelfryCenter

@Suite("A shard makes good what went to a connection that had ended (law 3)")
struct WrittenThroughTests {
    typealias Frame = LogAudience.Frame

    static func observer(
        _ behavior: SuspensionBehavior = .hold, _ change: (inout ObserverTerms) -> Void = { _ in }
    ) -> ObserverRegistration {
        LogAudience.observer("n", behavior, change)
    }

    /// Client 1 of the second broker has observer 1 and has seen 1 and 2; it gets nothing more.
    ///
    /// - Returns: the entry that its broker had applied.
    static func begun(
        limits: CenterLimits = CenterLimits(), nodeCount: Int = 2,
        _ registrations: [ObserverRegistration] = [observer()]
    ) throws -> (audience: LogAudience, applied: UInt64) {
        var audience = try LogAudience(limits: limits, nodeCount: nodeCount)
        try audience.connect(2, registrations)
        try audience.post(count: 2)
        audience.end(LogAudience.connection(1, 2), applied: audience.index)
        return (audience, audience.index)
    }

    static func numbers(_ numbers: ClosedRange<UInt64>) -> [Frame] {
        numbers.map { .number($0) }
    }

    static func again(_ numbers: ClosedRange<UInt64>) -> [Frame] {
        numbers.map { .again($0) }
    }

    // MARK: Its own broker says how far it had come

    @Test(
        "what was dispatched between the end of a connection and its entry comes to its next one",
        arguments: [nil, 2, 1, 0] as [UInt64?], [false, true])
    func certain(after: UInt64?, isRestored: Bool) throws {
        var (audience, applied) = try Self.begun()
        try audience.post(count: 2)
        try audience.disconnect(2, 1, applied: applied)
        try audience.post()
        #expect(audience.center.client(1)?.held == 3)
        if isRestored { try audience.restore() }
        try audience.resume(1, 1, after: after)
        var expected = Self.numbers(1...2)
        if let after, after < 2 { expected += Self.again(after + 1...2) }
        expected += Self.again(3...4) + [.number(5)]
        #expect(audience.frames[1] == expected)
        try audience.post()
        #expect(audience.frames[1]?.last == .number(6))
    }

    @Test("where nothing was dispatched between, nothing is held and nothing told")
    func nothingBetween() throws {
        var (audience, applied) = try Self.begun()
        try audience.post(1, "another")
        try audience.disconnect(2, 1, applied: applied)
        #expect(audience.center.client(1)?.held == 0)
        try audience.resume(1, 1)
        #expect(audience.frames[1] == Self.numbers(1...2))
    }

    @Test("what comes before it in its own entry went to nobody, too")
    func sameEntry() throws {
        var (audience, applied) = try Self.begun()
        let post = Post(
            id: NotificationID(high: 1, low: 1),
            content: Notification.Content(name: bytes("n"), object: nil, userInfo: nil))
        try audience.tell(
            2, .post(post, PostTerms()),
            .disconnect(
                client: 1, connection: LogAudience.connection(1, 2), appliedIndex: applied))
        try audience.resume(1, 1)
        #expect(audience.frames[1] == Self.numbers(1...2) + [.again(3)])
    }

    @Test("a broker cannot say that it had applied more than its entry says")
    func tooMuch() throws {
        var (audience, applied) = try Self.begun()
        try audience.post()
        try audience.tell(
            2, applied: applied,
            .disconnect(
                client: 1, connection: LogAudience.connection(1, 2),
                appliedIndex: audience.index + 1))
        try audience.resume(1, 1)
        #expect(audience.frames[1] == Self.numbers(1...2) + [.again(3)])
    }

    @Test("what stands in a command already is not believed")
    func notBelieved() throws {
        for isTold in [false, true] {
            let (audience, _) = try Self.begun()
            let action = Command.Action.disconnect(
                client: 1, connection: LogAudience.connection(1, 2),
                appliedIndex: isTold ? audience.index : nil,
                written: WrittenThrough(sequence: 0, isCertain: true, late: []))
            var log = audience.log
            try log.write("n2", .tell(center: LogAudience.center, action))
            #expect(log.shard.centers[0].client(1)?.state == .disconnected)
            #expect(log.shard.centers[0].client(1)?.held == 0)
        }
    }

    @Test(
        "what the ring has lost of it by then is told as a gap",
        arguments: 0...3, [nil, 2] as [UInt64?])
    func ringOverflow(room: Int, after: UInt64?) throws {
        var limits = CenterLimits()
        limits.replayCountLimit = room
        var (audience, applied) = try Self.begun(limits: limits)
        try audience.post(count: 3)
        try audience.disconnect(2, 1, applied: applied)
        try audience.resume(1, 1, after: after)
        var expected = Self.numbers(1...2)
        if room < 3 { expected.append(.gap(.unknown, 3, 5 - UInt64(room))) }
        if room > 0 { expected += Self.again(6 - UInt64(room)...5) }
        #expect(audience.frames[1] == expected)
    }

    @Test("what the ring loses between the end and the resumption is held by then")
    func ringLater() throws {
        var limits = CenterLimits()
        limits.replayCountLimit = 2
        var (audience, applied) = try Self.begun(limits: limits)
        try audience.post(count: 2)
        try audience.disconnect(2, 1, applied: applied)
        try audience.post(1, "another", count: 5)
        try audience.resume(1, 1)
        #expect(audience.frames[1] == Self.numbers(1...2) + Self.again(3...4))
    }

    @Test("what there is no room for is told as a gap, and what is too old")
    func noRoom() throws {
        var limits = CenterLimits()
        limits.clientHeldCountLimit = 1
        var (audience, applied) = try Self.begun(limits: limits)
        try audience.post(count: 3)
        try audience.disconnect(2, 1, applied: applied)
        try audience.resume(1, 1)
        #expect(
            audience.frames[1] == Self.numbers(1...2) + [.gap(.overflow, 3, 4), .again(5)])
    }

    @Test("each of its observers gets what it has not, whatever it does when it is suspended")
    func observers() throws {
        var (audience, applied) = try Self.begun([
            Self.observer(.hold), Self.observer(.drop), Self.observer(.coalesce),
            Self.observer { $0.acknowledges = true }, LogAudience.observer("another"),
            Self.observer { $0.endsWithConnection = true },
        ])
        try audience.post(count: 2)
        try audience.post(1, "another")
        try audience.disconnect(2, 1, applied: applied)
        try audience.resume(1, 1)
        for observer: UInt64 in 1...3 {
            #expect(audience.frames[observer] == Self.numbers(1...2) + Self.again(3...4))
        }
        // It has answered nothing.
        #expect(audience.frames[4] == Self.numbers(1...2) + Self.again(1...4))
        #expect(audience.frames[5] == [.again(5)])
        #expect(audience.frames[6] == Self.numbers(1...2))
    }

    @Test("what was held until then, and left with an entry that went to nobody, is held again")
    func lateFlush() throws {
        var audience = try LogAudience()
        try audience.connect(
            2, [Self.observer(), Self.observer(.drop), LogAudience.observer("m")])
        try audience.tell(2, .setSuspended(client: 1, true))
        try audience.post(count: 3)
        let applied = audience.index
        audience.end(LogAudience.connection(1, 2), applied: applied)
        #expect(audience.frames[1] == nil)
        try audience.tell(2, .setSuspended(client: 1, false))
        try audience.post()
        try audience.disconnect(2, 1, applied: applied)
        try audience.resume(1, 1)
        #expect(audience.frames[1] == Self.again(1...4))
        #expect(audience.frames[2] == [.gap(.dropped, 1, 3), .again(4)])
        #expect(audience.frames[3] == nil)
    }

    @Test("a second connection that has ended before the log has its resumption changes nothing")
    func shortResumption() throws {
        for after: UInt64? in [nil, 2] {
            var (audience, applied) = try Self.begun([
                Self.observer(), Self.observer { $0.holdLimit = 1 },
            ])
            try audience.post()
            try audience.disconnect(2, 1, applied: applied)
            try audience.post(count: 2)
            let second = audience.index
            audience.end(LogAudience.connection(2, 1), applied: second)
            let connection = try audience.resume(1, 1, after: after)
            #expect(connection == LogAudience.connection(2, 1))
            try audience.post()
            try audience.disconnect(1, 1, connection, applied: second)
            try audience.restore()
            try audience.resume(2, 1)
            #expect(audience.frames[1] == Self.numbers(1...2) + Self.again(3...6))
            // Its losses come out of the ring, so they are none; the number that its client has
            // seen may have reached only one of both.
            let seen: [Frame] = after == nil ? [] : [.again(2)]
            #expect(audience.frames[2] == Self.numbers(1...2) + seen + Self.again(3...6))
        }
    }

    @Test("an observer of a value is told the present one, and only if it was to be told more")
    func values() throws {
        guard let path = try? DocumentPath.parse(bytes("x").span) else { return }
        func look(_ object: String) -> ObserverRegistration {
            var terms = ValueTerms(path: path)
            terms.sendsInitial = false
            return ObserverRegistration(
                tokenHash: SecretHash(high: 1, low: 1), name: nil, object: bytes(object),
                selector: bytes("s"), role: .value(terms))
        }
        for isCertain in [true, false] {
            var (audience, applied) = try Self.begun([look("o"), look("p")])
            func set(_ object: String, _ text: String) throws {
                let write = ValueWrite(
                    id: NotificationID(high: 2, low: audience.index), object: bytes(object),
                    path: path)
                try audience.tell(
                    1, .setValue(write, try Document.parse(bytes(text).span), ValueLifetime()))
            }
            try set("o", "1")
            try set("o", "2")
            if isCertain {
                try audience.disconnect(2, 1, applied: applied)
            } else {
                try audience.write(1, .nodeDown(bytes("n2"), life: 1))
            }
            try audience.resume(1, 1)
            #expect(audience.changes[1] == [#"{"kind":"set","initial":true,"new":2}"#])
            #expect(audience.changes[2] == nil && audience.frames[2] == nil)
            #expect(audience.frames[1]?.count == 1)
        }
    }

    @Test(
        "actions that went to nobody are told as a gap; those that are answered, and asks, come again"
    )
    func actions() throws {
        let responder = ObserverRegistration(
            tokenHash: SecretHash(high: 1, low: 1), name: nil, object: bytes("lamp"), selector: [],
            terms: Self.observer().terms,
            role: .responder(ResponderTerms(implements: [bytes("on")])))
        func target(_ name: String, acknowledges: Bool) -> ObserverRegistration {
            var terms = ObserverTerms()
            terms.acknowledges = acknowledges
            return ObserverRegistration(
                tokenHash: SecretHash(high: 1, low: 1), name: bytes(name), object: nil,
                selector: bytes("on"), terms: terms, role: .action(target: bytes("lamp")))
        }
        for isCertain in [true, false] {
            for after: UInt64? in [nil, 2] {
                var audience = try LogAudience()
                try audience.connect(2, [responder])
                try audience.connect(
                    1, [target("n", acknowledges: false), target("m", acknowledges: true)])
                try audience.post(count: 2)
                let applied = audience.index
                audience.end(LogAudience.connection(1, 2), applied: applied)
                #expect(audience.frames[1] == Self.numbers(1...2))
                try audience.post(count: 2)
                try audience.post(1, "m")
                if isCertain {
                    try audience.disconnect(2, 1, applied: applied)
                } else {
                    try audience.write(1, .nodeDown(bytes("n2"), life: 1))
                }
                try audience.post()
                try audience.restore()
                try audience.resume(1, 1, after: after)
                var expected = Self.numbers(1...2)
                if isCertain {
                    expected.append(.gap(.unknown, 3, 4))
                } else if after == nil {
                    // Its broker's report to the log ends before the first.
                    expected.append(.gap(.unknown, 1, 5))
                }
                #expect(audience.frames[1] == expected + [.again(5), .number(6)])
            }
        }
    }
}
