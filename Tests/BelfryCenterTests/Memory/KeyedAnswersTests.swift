import Testing

@testable import BelfryCenter

@Suite("KeyedAnswers (decision 26)")
struct KeyedAnswersTests {
    private static let second: Int64 = 1_000_000_000

    private func key(
        _ text: String, of principal: String = "p", request: UInt64 = 1
    ) -> IdempotencyKey {
        IdempotencyKey(
            principal: bytes(principal), text: bytes(text),
            requestHash: SecretHash(high: request, low: 2), form: 3)
    }

    private func receipt(_ number: UInt64) -> Receipt {
        Receipt(id: NotificationID(high: 0, low: number), sequence: number)
    }

    private func record(_ key: IdempotencyKey, _ number: UInt64) -> KeyRecord {
        KeyRecord(key: key, receipts: [receipt(number)], reports: [])
    }

    private func limits(_ count: Int, lifetime: Duration = .seconds(300)) -> CenterLimits {
        var limits = CenterLimits()
        limits.keyLimit = count
        limits.keyLifetime = lifetime
        return limits
    }

    private func digest(_ answers: KeyedAnswers) -> UInt64 {
        var digest = StateDigest()
        answers.addDigest(to: &digest)
        return digest.finish()
    }

    @discardableResult
    private func begin(
        _ key: IdempotencyKey, _ number: UInt64 = 1, in answers: inout KeyedAnswers,
        at now: Int64 = 0, waitingFor: NotificationID? = nil, limits: CenterLimits = CenterLimits()
    ) -> [IdempotencyKey] {
        answers.begin(
            key, waitingFor: waitingFor, receipts: [receipt(number)], reports: [], at: now,
            limits: limits)
    }

    @Test("a key is found again with its answer; another request with it is a mismatch")
    func found() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        #expect(answers.find(key("k"), at: 0) == .none)
        begin(key("k"), 7, in: &answers)
        #expect(answers.find(key("k"), at: 1) == .answered(record(key("k"), 7)))
        #expect(answers.find(key("k", request: 2), at: 1) == .mismatch)
        #expect(answers.find(key("l"), at: 1) == .none)
    }

    @Test("keys are compared byte by byte, and belong to their principal")
    func scope() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        begin(key("caf\u{e9}"), in: &answers)
        begin(key("bc", of: "a"), in: &answers)
        for other in [key("cafe\u{301}"), key("c", of: "ab"), key("abc", of: ""), key("bc")] {
            #expect(answers.find(other, at: 0) == .none)
        }
    }

    @Test("a request that waits is pending until its answer is there")
    func pending() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        let id = NotificationID(high: 0, low: 9)
        begin(key("k"), 1, in: &answers, waitingFor: id)
        #expect(answers.find(key("k"), at: 0) == .pending(id))
        #expect(answers.find(key("k", request: 2), at: 0) == .mismatch)
        let rows = [[ReportRow(observer: 1, outcome: .acknowledged)]]
        let other = answers.finish(
            key("k"), waitedFor: NotificationID(high: 0, low: 8), receipts: [], reports: [],
            limits: limits(9))
        #expect(other == nil)
        let finished = answers.finish(
            key("k"), waitedFor: id, receipts: [receipt(2)], reports: rows,
            limits: limits(9))
        let expected = KeyRecord(key: key("k"), receipts: [receipt(2)], reports: rows)
        #expect(finished?.record == expected)
        #expect(finished?.forgotten == [])
        #expect(answers.find(key("k"), at: 0) == .answered(expected))
        let again = answers.finish(
            key("k"), waitedFor: id, receipts: [], reports: [], limits: limits(9))
        #expect(again == nil)
    }

    @Test("the count limit is kept at and one past it; the oldest is forgotten and told")
    func countLimit() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        #expect(begin(key("a"), in: &answers, limits: limits(2)) == [])
        #expect(begin(key("b"), in: &answers, limits: limits(2)) == [])
        #expect(begin(key("c"), in: &answers, limits: limits(2)) == [key("a")])
        #expect(answers.count == 2)
        #expect(answers.find(key("a"), at: 0) == .none)
        #expect(answers.trim(limits: limits(0)) == [key("b"), key("c")])
        #expect(answers.byteCount == 0)
        #expect(begin(key("d"), in: &answers, limits: limits(0)) == [key("d")])
    }

    @Test("a key is remembered until its time is over, to the nanosecond")
    func lifetime() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        begin(key("a"), in: &answers, at: 5)
        begin(key("b"), in: &answers, at: 6)
        #expect(answers.nextDeadline == 300 * Self.second + 5)
        #expect(answers.find(key("a"), at: 300 * Self.second + 4) == .answered(record(key("a"), 1)))
        #expect(answers.find(key("a"), at: 300 * Self.second + 5) == .none)
        #expect(answers.passTime(300 * Self.second + 4, limit: 9) == [])
        #expect(answers.passTime(300 * Self.second + 5, limit: 9) == [key("a")])
        #expect(answers.nextDeadline == 300 * Self.second + 6)
    }

    @Test("an endless lifetime is no overflow")
    func endless() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        begin(
            key("a"), in: &answers, at: .max - 1,
            limits: limits(9, lifetime: .seconds(Int64.max)))
        #expect(answers.nextDeadline == nil)
        #expect(answers.find(key("a"), at: .max - 1) != .none)
    }

    @Test("a key that is begun again is the younger one, and is forgotten once")
    func again() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        begin(key("a"), 1, in: &answers, at: 0, limits: limits(9, lifetime: .nanoseconds(50)))
        begin(key("b"), 2, in: &answers, at: 0, limits: limits(9, lifetime: .nanoseconds(10)))
        // The second one's time is over, though the first is before it.
        #expect(answers.find(key("b"), at: 20) == .none)
        #expect(
            begin(key("b", request: 5), 3, in: &answers, at: 20, limits: limits(9)) == [])
        #expect(answers.count == 2)
        #expect(answers.passTime(60, limit: 9) == [key("a")])
        #expect(
            answers.find(key("b", request: 5), at: 60)
                == .answered(record(key("b", request: 5), 3)))
        #expect(answers.trim(limits: limits(0)) == [key("b", request: 5)])
        #expect(answers.byteCount == 0)
    }

    @Test("answers that take too much memory make the oldest be forgotten, never the newest")
    func byteLimit() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        var limits = limits(9)
        limits.keyByteLimit = 3_900
        let error = [UInt8](repeating: 1, count: 1_000)
        let reports = [[ReportRow(observer: 1, outcome: .refused(error: error))]]
        var forgotten: [IdempotencyKey] = []
        for number in 0..<3 {
            forgotten += answers.begin(
                key("\(number)"), waitingFor: nil, receipts: [], reports: reports, at: 0,
                limits: limits)
        }
        #expect(forgotten == [key("0")])
        let large = [[ReportRow]](repeating: reports[0], count: 9)
        let id = NotificationID(high: 0, low: 1)
        begin(key("large"), in: &answers, waitingFor: id, limits: limits)
        let finished = answers.finish(
            key("large"), waitedFor: id, receipts: [], reports: large, limits: limits)
        #expect(finished?.forgotten == [key("1"), key("2")])
        #expect(answers.count == 1)
    }

    @Test("so many keys of the usual answer fit into their bytes, and one more does not")
    func byteBorder() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        begin(key("0000"), in: &answers)
        let byteCount = answers.byteCount
        var limits = limits(100)
        limits.keyByteLimit = 8 * byteCount
        for number in 1...7 {
            #expect(begin(key("000\(number)"), in: &answers, limits: limits) == [])
        }
        #expect(answers.byteCount == limits.keyByteLimit)
        #expect(begin(key("0008"), in: &answers, limits: limits) == [key("0000")])
        #expect(answers.byteCount == limits.keyByteLimit)
        // The text of a key counts once.
        var long = KeyedAnswers(seed: HashSeed(1, 2))
        begin(key(String(repeating: "k", count: 204)), in: &long)
        #expect(long.byteCount == byteCount + 200)
        #expect(CenterLimits().keyByteLimit == 32 << 20)
    }

    @Test("what a store has kept is answered again, and its time starts again")
    func restoring() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        answers.restore(record(key("a"), 4), at: 100, limits: CenterLimits())
        #expect(answers.nextDeadline == 300 * Self.second + 100)
        #expect(answers.find(key("a"), at: 100) == .answered(record(key("a"), 4)))
    }

    @Test("each part of an answer shows in the digest, and no seed does")
    func digests() {
        let id = NotificationID(high: 0, low: 9)
        var all: [KeyedAnswers] = [KeyedAnswers(seed: HashSeed(1, 2))]
        func add(_ change: (inout KeyedAnswers) -> Void) {
            var answers = KeyedAnswers(seed: HashSeed(1, 2))
            change(&answers)
            all.append(answers)
        }
        add { begin(key("a"), in: &$0) }
        add { begin(key("a"), 2, in: &$0) }
        add { begin(key("a", of: "q"), in: &$0) }
        add { begin(key("a", request: 2), in: &$0) }
        add { begin(key("a"), in: &$0, at: 1) }
        add { begin(key("a"), in: &$0, waitingFor: id) }
        add {
            begin(key("a"), in: &$0)
            begin(key("b"), in: &$0)
        }
        add {
            begin(key("b"), in: &$0)
            begin(key("a"), in: &$0)
        }
        for outcome in [
            ReportRow.Outcome.delivered, .acknowledged, .refused(error: [1]),
            .refused(error: [2]), .answered(result: [1]), .answered(result: [2]), .resultOmitted,
            .pending, .held, .coalesced, .dropped, .disconnected,
        ] {
            add { answers in
                _ = answers.begin(
                    key("a"), waitingFor: nil, receipts: [],
                    reports: [[ReportRow(observer: 1, outcome: outcome)]], at: 0,
                    limits: CenterLimits())
            }
        }
        for state in [
            Receipt.State.queued, .coalesced(into: id), .coalesced(into: receipt(1).id),
            .dequeued, .expired,
        ] {
            var receipt = receipt(1)
            receipt.state = state
            add { answers in
                _ = answers.begin(
                    key("a"), waitingFor: nil, receipts: [receipt], reports: [], at: 0,
                    limits: CenterLimits())
            }
        }
        #expect(Set(all.map { digest($0) }).count == all.count)
        var other = KeyedAnswers(seed: HashSeed(8, 9))
        begin(key("a"), in: &other)
        #expect(digest(other) == digest(all[1]))
    }

    @Test("random requests agree with an array", arguments: 1...3)
    func randomComparison(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var answers = KeyedAnswers(seed: HashSeed(seed, 1))
        var model: [(key: IdempotencyKey, number: UInt64, expiresAt: Int64)] = []
        var now: Int64 = 0
        let limits = limits(20, lifetime: .nanoseconds(100))
        for number in 0..<3_000 as Range<UInt64> {
            now += Int64(generator.below(10))
            let key = key(
                "\(generator.below(30))", of: "\(generator.below(2))",
                request: UInt64(generator.below(3)))
            let known = model.first {
                $0.key.text == key.text && $0.key.principal == key.principal
                    && $0.expiresAt > now
            }
            guard let known else {
                check(answers.find(key, at: now) == .none)
                // One that is begun again is not forgotten: the store has the new one.
                model.removeAll { $0.key.text == key.text && $0.key.principal == key.principal }
                model.append((key, number, now + 100))
                var forgotten: [IdempotencyKey] = []
                while model.count > 20 { forgotten.append(model.removeFirst().key) }
                check(begin(key, number, in: &answers, at: now, limits: limits) == forgotten)
                check(answers.count == model.count)
                var tooOld: [IdempotencyKey] = []
                while tooOld.count < 2, let first = model.first, first.expiresAt <= now {
                    tooOld.append(model.removeFirst().key)
                }
                check(answers.passTime(now, limit: 2) == tooOld)
                continue
            }
            check(
                answers.find(key, at: now)
                    == (known.key.requestHash == key.requestHash
                        ? .answered(record(known.key, known.number)) : .mismatch))
        }
    }
}
