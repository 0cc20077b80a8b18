import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: a present value borrows its number (Rules.md, C1, V6, V13)")
struct PresentValueTests {
    /// A center in which a present value waits with the number of the last post.
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

    /// The client for which a present value waits.
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
        "C1, V13: who asks for what was posted since has that, and no value of somebody else",
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
        #expect(scenario.center.observer(mailbox)?.tally.dropped == 0)
    }

    // MARK: V6: whether it has come

    @Test("V6: a present value that was lost with the line comes again, marked redelivered")
    func lost() {
        for hasValue in [false, true] {
            var scenario = Scenario()
            if hasValue { scenario.put("o", "v", "1") }
            let number = scenario.center.sequence
            let frame =
                (hasValue
                    ? #"o1 v {"kind":"set","initial":true,"new":1}"#
                    : #"o1 v {"kind":"removed","initial":true}"#) + " @\(number)"
            let client = scenario.connect()
            scenario.look("o", "v", by: client) { $0.initial = true }
            scenario.apply(.drain(client: client))
            #expect(scenario.seen == [frame])
            for _ in 0..<2 {
                scenario.cut(client)
                scenario.back(client, after: number)
                #expect(scenario.seen == [frame + "*"])
            }
            // A client that names a greater number has had it.
            scenario.put("o", "w", "1")
            scenario.cut(client)
            scenario.back(client, after: number + 1)
            #expect(scenario.seen.isEmpty)
            scenario.cut(client)
            scenario.back(client, after: number)
            #expect(scenario.seen.isEmpty)
        }
    }

    @Test("V6: a notification of its number does not tell that a present value has come")
    func beside() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("n", by: client)
        scenario.say("n1")
        scenario.look("o", "v", by: client) { $0.initial = true }
        scenario.apply(.drain(client: client))
        scenario.cut(client)
        scenario.back(client, after: 1)
        // On the way back it is at the place of its last change, and there was none.
        #expect(scenario.seen == [#"o2 v {"kind":"removed","initial":true} @0*"#])
    }

    @Test(
        "V6: after a restart a present value comes again, unless a stop in order has written it",
        arguments: [false, true], [false, true])
    func lostAndRestarted(isCut: Bool, isComplete: Bool) {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        stored.run { $0.put("o", "v", "1") }
        stored.run { $0.look("o", "v", by: client) { $0.initial = true } }
        stored.run { $0.apply(.drain(client: client)) }
        if isCut { stored.run { $0.cut(client) } }
        stored.restart(isComplete: isComplete)
        stored.run { $0.back(client, after: 1) }
        let isTold = isCut || !isComplete
        #expect(
            stored.scenario.seen
                == (isTold ? [#"o1 v {"kind":"set","initial":true,"new":1} @1*"#] : []))
    }

    @Test("V10: of one change a stream may have had the first frame alone: the others come again")
    func secondPath() {
        var scenario = Scenario()
        scenario.put("o", "", #"{"a":0,"b":0,"c":0}"#)
        scenario.patch("o", "", #"{"a":1,"b":1}"#)
        let observers = ["c", "a", "b"].map { path in
            scenario.observer(of: "o", path) { $0.endsWithConnection = true }
        }
        let stream = scenario.connect(observers, since: 2, transport: .events)
        scenario.apply(.drain(client: stream))
        #expect(scenario.seen == [#"o3 b {"kind":"set","initial":true,"new":1} @2"#])
    }

    @Test("V6: what was not written to a connection that ended may have the number 0")
    func unwrittenPresent() {
        for isCertain in [true, false] {
            var scenario = Scenario()
            let client = scenario.connect()
            scenario.look("o", "v", by: client) { $0.initial = true }
            scenario.apply(.drain(client: client))
            guard let row = scenario.center.client(client) else { return }
            let late = LateDelivery(observer: 1, content: .notification(0))
            scenario.apply(
                .disconnect(
                    client: client, connection: row.connection,
                    written: WrittenThrough(sequence: 0, isCertain: isCertain, late: [late])))
            scenario.back(client)
            #expect(scenario.seen.count == 1, "\(isCertain)")
        }
    }

    // MARK: V6: mailboxes

    @Test("V6: the first look into a mailbox has the present value, whatever number it names")
    func firstLook() {
        for (posts, through): (Int, UInt64?) in [(0, nil), (0, 0), (2, nil), (2, 1), (2, 2)] {
            var scenario = Scenario()
            for _ in 0..<posts { scenario.say("n") }
            let number = UInt64(posts)
            let mailbox = scenario.lookingMailbox("o", "v") { $0.initial = true }
            let mail = [#"v {"kind":"removed","initial":true} @\#(number)"#]
            scenario.apply(.readMailbox(observer: mailbox, through: through))
            #expect(scenario.mail(mailbox, after: through ?? 0) == mail)
            scenario.apply(.readMailbox(observer: mailbox, through: nil))
            #expect(scenario.mail(mailbox) == mail)
            scenario.apply(.readMailbox(observer: mailbox, through: number))
            #expect(scenario.mail(mailbox, after: number).isEmpty)
            scenario.put("o", "v", "1")
            #expect(scenario.mail(mailbox, after: number).count == 1)
        }
    }

    @Test("V6: a mailbox that was not read has the present value after a restart")
    func restartedMailbox() {
        var stored = StoredScenario()
        let mailbox = stored.run { $0.lookingMailbox("o", "v") { $0.initial = true } }
        stored.restart()
        #expect(stored.scenario.mail(mailbox) == [#"v {"kind":"removed","initial":true} @0"#])
        stored.run { $0.apply(.attachStream(observer: mailbox, connection(7))) }
        #expect(stored.scenario.seen == [#"o1 v {"kind":"removed","initial":true} @0*"#])
        stored.run { $0.apply(.detachReader(observer: mailbox, connection(7))) }
        stored.run { $0.apply(.attachStream(observer: mailbox, connection(8))) }
        #expect(stored.scenario.seen == [#"o1 v {"kind":"removed","initial":true} @0*"#])
        stored.run { $0.apply(.readMailbox(observer: mailbox, through: 0)) }
        #expect(stored.scenario.mail(mailbox).isEmpty)
    }

    // MARK: V10: a sister

    @Test("V10: a stream that comes back is told nothing of a sister, or of another object")
    func sister() {
        var scenario = Scenario()
        scenario.put("o", "", #"{"a":1,"b":1,"c":{"d":1,"e":1}}"#)
        // It may have had the first frame alone of the number that a stream names.
        scenario.put("r", "", "{}")
        let changes: [(inout Scenario) -> Void] = [
            { $0.put("o", "b", "2") }, { $0.patch("o", "", #"{"b":3,"x":1}"#) },
            { $0.put("o", "", #"{"a":1,"c":{"d":1,"e":2}}"#) }, { $0.put("p", "a", "1") },
            { $0.delete("p", "") }, { $0.put("o", "c.e", #"{"f":1}"#) }, { $0.delete("o", "c.e") },
        ]
        for change in changes {
            let since = scenario.center.sequence
            change(&scenario)
            #expect(scenario.center.sequence == since + 1)
            let observers = [("o", "a"), ("o", "c.d"), ("q", "")].map { object, path in
                scenario.observer(of: object, path) { $0.endsWithConnection = true }
            }
            let stream = scenario.connect(observers, since: since, transport: .events)
            scenario.apply(.drain(client: stream))
            #expect(scenario.seen.isEmpty)
            scenario.disconnect(stream)
        }
        let since = scenario.center.sequence
        scenario.put("o", "", #"{"a":2}"#)
        for (path, count) in [("a", 1), ("c.d", 1), ("", 1), ("b", 0)] {
            let observer = scenario.observer(of: "o", path) { $0.endsWithConnection = true }
            let stream = scenario.connect([observer], since: since, transport: .events)
            scenario.apply(.drain(client: stream))
            #expect(scenario.seen.count == count, "\(path)")
        }
    }

    @Test("V10: what has no members comes and goes without a change of what lies below it")
    func emptyAbove() {
        var scenario = Scenario()
        scenario.put("r", "", "{}")
        let changes: [(inout Scenario) -> Void] = [
            { $0.put("o", "", "{}") }, { $0.put("o", "", #"{"c":1}"#) },
            { $0.put("o", "c", "2") }, { $0.put("o", "c", "{}") }, { $0.delete("o", "c") },
        ]
        for (place, change) in changes.enumerated() {
            let since = scenario.center.sequence
            change(&scenario)
            #expect(scenario.center.sequence == since + 1)
            for (path, count) in [("a", 0), ("c.d", 0), ("", 1)] {
                let observer = scenario.observer(of: "o", path) { $0.endsWithConnection = true }
                let stream = scenario.connect([observer], since: since, transport: .events)
                scenario.apply(.drain(client: stream))
                #expect(scenario.seen.count == count, "\(place) \(path)")
                scenario.disconnect(stream)
            }
        }
        // A larger change is remembered as one, also behind a smaller one at the same place.
        let since = scenario.center.sequence
        scenario.put("o", "c", #"{"d":1,"e":1,"f":1,"g":1,"h":1}"#)
        scenario.delete("o", "c")
        scenario.put("o", "c", "1")
        let observer = scenario.observer(of: "o", "c.d") { $0.endsWithConnection = true }
        let stream = scenario.connect([observer], since: since, transport: .events)
        scenario.apply(.drain(client: stream))
        #expect(scenario.seen.count == 1)
    }

    // MARK: V8: suspension

    @Test("V8: a suspended client is written no present value, though something immediate waits")
    func suspended() {
        for number: UInt64 in [0, 1] {
            var scenario = Scenario()
            if number > 0 { scenario.say("n") }
            let client = scenario.connect()
            scenario.respond("d", ["m"], by: client) { $0.behavior = .hold }
            scenario.suspend(client)
            scenario.ask("d", "m")
            for behavior in SuspensionBehavior.allCases {
                let observer = scenario.look("o", "v", by: client) {
                    $0.initial = true
                    $0.behavior = behavior
                }
                scenario.apply(.drain(client: client))
                #expect(scenario.seen.isEmpty, "\(observer), \(behavior)")
            }
            scenario.endSuspension(client)
            #expect(scenario.seen.count == SuspensionBehavior.allCases.count)
        }
    }

    // MARK: Law 3: losses

    @Test("law 3: a loss that is made good is no gap, also that of the number that a client names")
    func madeGood() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.observe("a", by: client, .coalesce)
        scenario.observe("b", by: client, .deliverImmediately)
        scenario.suspend(client)
        for text in ["a1", "a2", "b3"] { scenario.say(text) }
        #expect(scenario.frames == ["a1", "a2", "a2", "b3"])
        scenario.cut(client)
        scenario.back(client, after: 1)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a1*", "a2*", "a2*", "b3*"] && scenario.losses == [])
    }

    // MARK: V16

    @Test(
        "V16: what ended while the broker was down is over before anybody looks",
        arguments: [false, true])
    func ended(isComplete: Bool) {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) }
        stored.run { $0.put("o", "a", "1") { $0.ttl = 1_000 } }
        stored.run { $0.put("o", "b", "2") { $0.ttl = 10_000 } }
        let last = stored.scenario.center.sequence
        stored.scenario.milliseconds += 1_000
        stored.restart(isComplete: isComplete)
        #expect(stored.scenario.value("o") == #"{"b":2}"#)
        stored.run { $0.back(client, after: last) }
        #expect(stored.scenario.seen.count == 1)
        #expect(stored.scenario.seen[0].hasPrefix(#"o1 a {"kind":"removed","initial":true} @"#))
    }
}
