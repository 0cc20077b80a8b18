import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: a present value borrows its number (Rules.md, C1, V6, V13)")
struct PresentValueTests {
    /// Some center, in which somebody's present value waits with the number of the last post.
    private static func waiting(
        _ scenario: inout Scenario, _ kind: Kind
    ) {
        switch kind {
        case .mailbox: _ = scenario.lookingMailbox("secret", "pin") { $0.initial = true }
        case .suspended(let behavior):
            let other = scenario.connect()
            scenario.suspend(other)
            scenario.look("secret", "pin", by: other) {
                $0.initial = true
                $0.behavior = behavior
            }
        }
    }

    /// For whom a present value waits.
    enum Kind: CustomStringConvertible {
        case mailbox
        case suspended(SuspensionBehavior)

        static let all: [Kind] =
            [.mailbox] + SuspensionBehavior.allCases.map { .suspended($0) }

        var description: String {
            switch self {
            case .mailbox: "mailbox"
            case .suspended(let behavior): "suspended, \(behavior)"
            }
        }
    }

    // MARK: C1 and V13

    @Test(
        "C1, V13: who asks for what was posted since has that, and not a value that waits for others",
        arguments: Kind.all)
    func since(kind: Kind) {
        var scenario = Scenario()
        scenario.put("secret", "pin", "1234")
        scenario.say("news1")
        Self.waiting(&scenario, kind)
        let client = scenario.connect()
        scenario.observe("news", by: client, .hold, since: 0)
        #expect(scenario.frames == ["news1*"])
        #expect(scenario.effects.notifications.map(\.sequence) == [2])
        let registration = scenario.registration("news")
        _ = scenario.connect([registration], since: 0, transport: .mailbox)
        #expect(scenario.mailTexts(registration.serial) == ["news1*"])
        _ = scenario.connect([scenario.registration("news")], since: 1, transport: .events)
        #expect(scenario.frames == ["news1*"])
    }

    @Test(
        "C1, V13: who resumes has what was posted, and not a value that waits for others",
        arguments: Kind.all)
    func resumed(kind: Kind) {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("news", by: client, .hold)
        scenario.put("secret", "pin", "1234")
        scenario.say("news1")
        scenario.cut(client)
        Self.waiting(&scenario, kind)
        scenario.back(client, after: 1)
        #expect(scenario.frames == ["news1*"] && scenario.losses == [])
    }

    @Test("C1: what was not written to a connection that ended is held again, and no value")
    func unwritten() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("news", by: client, .hold)
        scenario.put("secret", "pin", "1234")
        scenario.say("news1")
        Self.waiting(&scenario, .mailbox)
        guard let row = scenario.center.client(client) else { return }
        scenario.apply(
            .disconnect(
                client: client, connection: row.connection,
                written: WrittenThrough(sequence: 1, isCertain: true, late: [])))
        scenario.back(client)
        #expect(scenario.frames == ["news1*"])
    }

    // MARK: Law 3, with a store

    @Test(
        "law 3: what a client is held outlives a kill, though another one with its number waits",
        arguments: [false, true])
    func heldCopies(isComplete: Bool) {
        for isLive in [false, true] {
            var stored = StoredScenario()
            let held = stored.run { $0.connect() }
            stored.run { $0.observe("n", by: held, .hold) }
            let other = stored.run { $0.connect() }
            stored.run { $0.observe("n", by: other, .hold) }
            stored.run { $0.put("secret", "pin", "1234") }
            stored.run { $0.cut(held) }
            stored.run { $0.say("n1") }
            stored.run { $0.lookingMailbox("secret", "pin") { $0.initial = true } }
            stored.run { $0.suspend(other) }
            stored.run { $0.cut(other) }
            stored.run { $0.back(other, after: 1) }
            if isLive {
                stored.run { $0.endSuspension(other) }
                #expect(stored.scenario.frames == ["n1*"])
            }
            stored.restart(isComplete: isComplete)
            stored.run { $0.back(held) }
            #expect(stored.scenario.frames == ["n1*"], "live: \(isLive)")
        }
    }

    @Test("D7: a time that is over ends what was posted, and no value of the same number")
    func expiry() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("news", by: client, .hold)
        scenario.put("secret", "pin", "1234")
        scenario.suspend(client)
        scenario.say("news1", ttl: 1_000)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["news1"])
        // The slot that the post has left is used again.
        let mailbox = scenario.lookingMailbox("secret", "pin") { $0.initial = true }
        scenario.pass(milliseconds: 2_000)
        #expect(scenario.mail(mailbox) == [#"pin {"kind":"set","initial":true,"new":1234} @2"#])
        #expect(scenario.center.observer(mailbox)?.dropped == 0)
    }
}
