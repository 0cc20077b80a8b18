import Testing

@testable import BelfryCenter

@Suite("What a center keeps for owners")
struct OwnerTests {
    private static let p = Owner(number: 1)

    /// The holdings of an owner, counted anew by a restored center and from the queue's entries.
    private static func counted(_ owner: Owner, in center: NotificationCenter) -> Holdings {
        var anew = center
        anew.owned = OwnedMemory()
        anew.queue.owned = OwnedMemory()
        anew.asks.owned = OwnedMemory()
        anew.keys.owned = OwnedMemory()
        anew.assignOwners { CommandSource.owner(of: $0) }
        var holdings = anew.holdings(of: owner)
        center.queue.forEachInPostingOrder { entry in
            if entry.owner == owner {
                holdings.texts[.queue].byteCount += entry.content.byteCount
                holdings.texts[.queue].cost += entry.cost
            }
            return true
        }
        return holdings
    }

    @Test("whatever happens, what counts for an owner is what there is of it", arguments: 1...8)
    func sum(seed: UInt64) {
        var source = CommandSource(seed: seed)
        var scenario = Scenario()
        var told: [Owner: Holdings] = [:]
        var most = Holdings()
        var mostQueued = 0
        for number in 0..<2_000 {
            let command = source.next()
            scenario.milliseconds = command.time.wallMilliseconds
            scenario.apply(command.action)
            for (owner, more) in scenario.center.takeOwnedGrowth() {
                told[owner, default: Holdings()] += more
            }
            guard number % 100 == 0 else { continue }
            for owner in CommandSource.owners {
                let kept = scenario.center.holdings(of: owner)
                #expect(kept == Self.counted(owner, in: scenario.center), "\(number)")
                #expect(kept == told[owner] ?? Holdings(), "\(number)")
                mostQueued = max(mostQueued, kept.texts[.queue].byteCount)
                for kind in KeptKind.allCases {
                    most.memory[kind] = max(most.memory[kind], kept.memory[kind])
                }
            }
            #expect(scenario.center.holdings(of: .none).isNone)
        }
        for kind in [KeptKind.observers, .held, .keys] { #expect(most.memory[kind] > 0) }
        #expect(mostQueued > 0)
    }

    @Test("an owner that holds too much loses the oldest eighth of each of its clients")
    func held() {
        var scenario = Scenario()
        let mine = scenario.mailbox("a", owner: Self.p)
        let other = scenario.mailbox("a", owner: Owner(number: 2))
        for _ in 0..<17 { scenario.say("a") }
        let before = scenario.center.holdings(of: Self.p).memory[.held]
        scenario.apply(.trimOwned(.held, Self.p))
        #expect(scenario.mailCount(mine) == 14 && scenario.mailCount(other) == 17)
        #expect(scenario.center.holdings(of: Self.p).memory[.held] == before / 17 * 14)
        for _ in 0..<20 { scenario.apply(.trimOwned(.held, Self.p)) }
        #expect(scenario.mailCount(mine) == 0 && scenario.mailCount(other) == 17)
        #expect(scenario.center.holdings(of: Self.p).memory[.held] == 0)
    }

    @Test("an owner that has too many keys loses its oldest ones, and the order stays short")
    func keys() {
        var answers = KeyedAnswers(seed: HashSeed(1, 2))
        let limits = CenterLimits()
        func key(_ text: String, _ owner: Owner) -> IdempotencyKey {
            IdempotencyKey(
                principal: bytes("p"), text: bytes(text), requestHash: SecretHash(high: 1, low: 1),
                form: 0, owner: owner)
        }
        let first = key("other", Owner(number: 2))
        _ = answers.begin(first, waitingFor: nil, receipts: [], reports: [], at: 0, limits: limits)
        for number in 0..<2_000 {
            _ = answers.begin(
                key("\(number)", Self.p), waitingFor: nil, receipts: [], reports: [], at: 0,
                limits: limits)
            while answers.count > 9 {
                #expect(answers.trim(of: Self.p).allSatisfy { $0.owner == Self.p })
            }
        }
        #expect(answers.remembers(first))
        #expect(answers.remembers(key("1999", Self.p)))
        #expect(!answers.remembers(key("1980", Self.p)))
        #expect(answers.footprint < 32_000)
        var order: [[UInt8]] = []
        answers.forEach { record, _, _ in order.append(record.key.text) }
        #expect(order.first == bytes("other") && order.last == bytes("1999"))
        #expect(order.count == answers.count)
    }
}

extension Scenario {
    /// How many notifications a mailbox has.
    fileprivate func mailCount(_ observer: UInt64) -> Int { mailTexts(observer).count }
}
