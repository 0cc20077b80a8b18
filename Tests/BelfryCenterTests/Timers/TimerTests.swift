import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: timers (Rules.md, L)")
struct TimerTests {
    private var scenario = Scenario()

    @Test("L1, L3 (T290): a timer is listed until it is due, then it is posted once, under its id")
    mutating func firesOnce() {
        let client = scenario.connect()
        scenario.observe("tick", by: client)
        let id = scenario.later("tick1/o", after: 200)
        #expect(scenario.effects.receipts[0].state == .timed(dueAt: 1_200))
        #expect(scenario.timerTexts == ["tick1/o at 200"])
        #expect(scenario.fate(id) == .timed(dueAt: 1_200))
        #expect(scenario.turn(after: 199) == [])
        #expect(scenario.turn(after: 1) == ["tick1/o"])
        #expect(scenario.frames == ["tick1/o"])
        #expect(scenario.effects.notifications[0].id == id)
        #expect(scenario.fate(id) == .posted && scenario.timerTexts == [])
        let outcome = scenario.apply(.dequeueEntry(id, scope: .everything))
        #expect(outcome == .refused(.unknownEntry))
        #expect(scenario.turn(after: 86_400_000) == [])
    }

    @Test("L1: nothing merges with a timer, and a now post leaves it alone")
    mutating func isApart() {
        scenario.later("a1/o", after: 100)
        scenario.later("a2/o", after: 100)
        scenario.say("a3/o", style: .asap)
        #expect(scenario.effects.receipts[0].state == .queued)
        scenario.say("a4/o", style: .now)
        #expect(scenario.effects.receipts[0].dequeued == 1)
        #expect(scenario.timerTexts == ["a1/o at 100", "a2/o at 100"])
        // Due, they are ordinary entries: the second one merges with the first.
        #expect(scenario.turn(after: 100) == ["a1/o"])
    }

    @Test("L1: style, modes, mask and time to live count from when it is due")
    mutating func optionsCountFromThen() {
        scenario.enter("modal", 1)
        scenario.later("a1", after: 1_000, ttl: 500_000_000)
        #expect(scenario.turn(after: 1_000) == [])
        #expect(scenario.queueTexts == ["a1 asap"])
        #expect(scenario.turn(after: 499) == [])
        #expect(scenario.queueTexts == ["a1 asap"])
        #expect(scenario.turn(after: 1) == [])
        #expect(scenario.queueTexts == [])
        let idle = scenario.later("i1", after: 10, style: .idle, modes: ["modal"])
        #expect(scenario.turn(after: 10) == [])
        #expect(scenario.fate(idle) == .queued && scenario.queueTexts == ["i1 idle"])
        scenario.apply(.idle)
        #expect(scenario.fate(idle) == .posted)
    }

    @Test("L1 (T296): replaces takes out the timers of its name and object: a debounce")
    mutating func debounces() {
        var last = NotificationID(high: 0, low: 0)
        for step in 0..<7 {
            last = scenario.later("save/doc", after: 1_000, replaces: true)
            #expect(scenario.effects.receipts[0].dequeued == (step == 0 ? 0 : 1))
            #expect(scenario.turn(after: 300) == [])
        }
        #expect(scenario.turn(after: 699) == [])
        #expect(scenario.turn(after: 1) == ["save/doc"] && scenario.fate(last) == .posted)
    }

    @Test(
        "L1: replaces takes out what its poster may post, of this name and object, and no farewell")
    mutating func replacesItsOwnAlone() {
        let client = scenario.connect()
        let first = scenario.later("a1/o", after: 10)
        scenario.later("a2/p", after: 20)
        scenario.later("a3", after: 30)
        scenario.later("b4/o", after: 40)
        scenario.farewell("a5/o", by: client)
        scenario.later("a6/o", every: 50)
        scenario.later("a7/o", after: 60, replaces: true)
        #expect(scenario.effects.receipts[0].dequeued == 2)
        #expect(scenario.fate(first) == .dequeued)
        #expect(
            scenario.timerTexts == ["a2/p at 20", "a3 at 30", "b4/o at 40", "a7/o at 60", "a5/o"])
        let scope = PostScope.some([PostScope.Pattern(names: [.exact(bytes("b"))])])
        scenario.later("a8/o", after: 70, replaces: true, scope: scope)
        #expect(scenario.effects.receipts[0].dequeued == 0)
        scenario.later("a9", after: 80, replaces: true)
        #expect(scenario.effects.receipts[0].dequeued == 1)
    }

    @Test("L2: after 0 is the next turn, and fractions of a millisecond are rounded up")
    mutating func isNeverEarly() {
        scenario.later("a1", after: 0)
        #expect(scenario.effects.notifications.isEmpty)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.effects.notifications.isEmpty)
        #expect(scenario.center.needs.timerDeadline == scenario.time.timerNanoseconds)
        #expect(scenario.turn() == ["a1"])
        let terms = TimerTerms(start: .after(1))
        #expect(terms.delay(from: scenario.time) == 1)
        #expect(TimerTerms(start: .after(1_000_000)).delay(from: scenario.time) == 1)
        #expect(TimerTerms(start: .after(1_000_001)).delay(from: scenario.time) == 2)
    }

    @Test("L2: at is a time of day, and the past is now")
    mutating func firesAtATime() {
        scenario.later("a1", at: 5_000)
        scenario.later("b2", at: 3)
        #expect(scenario.timerTexts == ["b2 at 0", "a1 at 4000"])
        #expect(scenario.turn() == ["b2"])
        #expect(scenario.turn(after: 3_999) == [] && scenario.turn(after: 1) == ["a1"])
    }

    @Test("L4 (T292): a late timer fires once, tells what it missed, and goes back to its grid")
    mutating func returnsToItsGrid() {
        let id = scenario.later("r", after: 0, every: 1_000)
        var fired: [Int64] = []
        for step: Int64 in [0, 3_500, 400, 100, 999, 1] {
            if scenario.turn(after: step) == ["r"] { fired.append(scenario.milliseconds - 1_000) }
        }
        #expect(fired == [0, 3_500, 4_000, 5_000])
        #expect(scenario.timerTexts == ["r at 6000 fired 4 missed 2"])
        #expect(scenario.fate(id) == .timed(dueAt: 7_000))
        #expect(scenario.center.tally[.firings] == 4 && scenario.center.tally[.missedFirings] == 2)
    }

    @Test("L4: the grid of a period that is no whole number of milliseconds does not move")
    mutating func gridStays() {
        let third = TimerTerms(
            start: .after(0), period: 333_333_333, lease: 86_400_000_000_000)
        let post = scenario.newPost(text: "r", style: .asap)
        scenario.apply(
            .post(
                Post(
                    id: post.id, content: post.content,
                    options: PostOptions(style: .asap, timer: third)), PostTerms()))
        var times: [Int64] = []
        for _ in 0..<3_001 {
            scenario.milliseconds = scenario.center.needs.timerDeadline / 1_000_000
            #expect(scenario.turn() == ["r"])
            times.append(scenario.milliseconds - 1_000)
        }
        #expect(times[1] == 334 && times[3] == 1_000 && times[3_000] == 1_000_000)
    }

    @Test(
        "L4: each firing has its own id, is caused by the timer, and swallows the next while it waits"
    )
    mutating func swallows() {
        scenario.enter("modal", 1)
        let id = scenario.later("r/o", every: 100, coalesce: .none)
        #expect(scenario.turn(after: 100) == [] && scenario.turn(after: 250) == [])
        #expect(scenario.queueTexts == ["r/o asap"])
        #expect(scenario.timerTexts == ["r/o at 400 fired 1 missed 2"])
        scenario.apply(.leaveMode(serial: 1))
        #expect(scenario.turn() == ["r/o"])
        let first = scenario.effects.notifications[0]
        #expect(first.causedBy == id && first.id != id)
        #expect(scenario.turn(after: 50) == ["r/o"])
        #expect(scenario.effects.notifications[0].id != first.id)
    }

    @Test(
        "L4: a repeating timer ends with its lease, after what is due by then",
        arguments: [300, 349])
    mutating func endsWithItsLease(lease: Int64) {
        let id = scenario.later("r", every: 100, lease: lease)
        for _ in 0..<3 { #expect(scenario.turn(after: 100) == ["r"]) }
        #expect(scenario.turn(after: lease - 300) == [])
        #expect(scenario.timerTexts == [] && scenario.fate(id) == .expired)
        let late = scenario.later("l", every: 100, lease: 100)
        #expect(scenario.turn(after: 5_000) == ["l"] && scenario.turn() == [])
        #expect(scenario.fate(late) == .expired)
    }

    @Test("L5: what was dequeued fires no more, and what it has made is not posted")
    mutating func endsWithTheDequeue() {
        scenario.enter("modal", 1)
        let id = scenario.later("r/o", every: 100)
        #expect(scenario.turn(after: 100) == [] && scenario.queueTexts == ["r/o asap"])
        #expect(scenario.apply(.dequeueEntry(id, scope: .everything)) == .dequeued(1))
        #expect(scenario.queueTexts == [] && scenario.timerTexts == [])
        #expect(scenario.fate(id) == .dequeued)
        scenario.apply(.leaveMode(serial: 1))
        #expect(scenario.turn(after: 1_000) == [])
    }

    @Test("L5, Q20: timers are dequeued by name and object, in what the caller may post")
    mutating func areDequeuedByNameAndObject() {
        let client = scenario.connect()
        for text in ["a1/o", "a2/p", "b3/o", "a4"] { scenario.later(text, after: 100) }
        scenario.farewell("a5/o", by: client)
        scenario.say("a6/o", style: .asap)
        func match(_ name: String?, _ object: String?, _ mask: Coalescing) -> Command.Action {
            .dequeue(
                QueueMatch(
                    name: name.map { bytes($0) }, object: object.map { bytes($0) }, mask: mask,
                    scope: .everything))
        }
        #expect(scenario.apply(match("a", "o", [.onName, .onSender])) == .dequeued(3))
        #expect(scenario.apply(match(nil, "o", .onSender)) == .dequeued(1))
        let nobody = QueueMatch(
            name: bytes("a"), object: nil, mask: .onName, scope: .some([]))
        #expect(scenario.apply(.dequeue(nobody)) == .dequeued(0))
        #expect(scenario.apply(match("a", nil, .onName)) == .dequeued(2))
        #expect(scenario.timerTexts == [] && scenario.queueTexts == [])
    }

    @Test("L7 (T298): a repeating timer ends with its client; a single one stays")
    mutating func endsWithItsClient() {
        let client = scenario.connect()
        scenario.observe("x", by: client, .hold)
        let repeating = scenario.later("r", every: 100, by: client)
        scenario.later("once", after: 60_000, by: client)
        scenario.later("http", every: 60_000)
        scenario.cut(client)
        #expect(scenario.turn(after: 100) == ["r"])
        scenario.apply(.removeClient(client: client, by: .broker))
        #expect(scenario.fate(repeating) == .dequeued)
        #expect(scenario.timerTexts.count == 2)
        #expect(scenario.turn(after: 60_000) == ["once", "http"])
    }

    @Test("L8 (T294): what is due in a mode that is not current waits, once")
    mutating func waitsForItsMode() {
        scenario.later("a1", after: 200, modes: ["modal"])
        #expect(scenario.turn(after: 5_000) == [] && scenario.queueTexts == ["a1 asap"])
        scenario.enter("modal", 1)
        #expect(scenario.turn() == ["a1"] && scenario.turn(after: 5_000) == [])
    }

    @Test("L9: what waits keeps no loop from being idle, and needs nothing until it is due")
    mutating func costsNothing() {
        for number in 0..<1_000 { scenario.later("a\(number)", after: 60_000) }
        let needs = scenario.center.needs
        #expect(!needs.turnEnd && !needs.turnGoesOn && !needs.idle && needs.deadline == .max)
        #expect(needs.timerDeadline == (1_000 + 60_000) * 1_000_000)
        #expect(needs.queueCount == 0 && scenario.center.tally[.timers] == 1_000)
    }

    @Test("L5: with the last that keeps a client its timers go, also those that were to go next")
    mutating func goesWithTheClient() {
        let client = scenario.connect()
        scenario.farewell("r1", after: 60_000, by: client)
        let repeating = scenario.later("r2", every: 100_000, by: client)
        scenario.cut(client)
        let match = QueueMatch(name: bytes("r"), object: nil, mask: .onName, scope: .everything)
        scenario.apply(.dequeue(match))
        #expect(scenario.timerTexts == [] && scenario.fate(repeating) == .dequeued)
        #expect(scenario.center.client(client) == nil)
    }

    @Test("limits: at and one past the number of timers, and their bytes")
    mutating func limits() {
        var limits = CenterLimits()
        limits.timerLimit = 3
        scenario = Scenario(limits: limits)
        for number in 0..<3 { scenario.later("a\(number)/o\(number)", after: 100) }
        scenario.later("a3", after: 100)
        #expect(scenario.effects.outcome == .refused(.timersFull(limit: 3)))
        // A post that takes one out needs no room.
        scenario.later("a9/o1", after: 50, replaces: true)
        #expect(scenario.effects.receipts[0].dequeued == 1 && scenario.timerTexts.count == 3)
        func setter(_ byteRoom: Int) -> PostTerms.Details {
            PostTerms.Details(
                scope: .everything,
                setter: PostTerms.TimerSetter(
                    client: nil, principal: TimerRecord.Principal(name: [], hasKey: false),
                    byteRoom: byteRoom))
        }
        scenario = Scenario()
        scenario.later("abc/o", after: 1) { $0.details = setter(4) }
        #expect(scenario.effects.outcome == .done)
        scenario.later("abcd/o", after: 1) { $0.details = setter(4) }
        #expect(scenario.effects.outcome == .refused(.timerBytesFull))
    }

    @Test("a batch sets all of its timers or none")
    mutating func batches() {
        var limits = CenterLimits()
        limits.timerLimit = 2
        scenario = Scenario(limits: limits)
        func post(_ name: String) -> Post {
            let plain = scenario.newPost(text: name, style: .asap)
            return Post(
                id: plain.id, content: plain.content,
                options: PostOptions(
                    style: .asap, timer: TimerTerms(start: .after(5_000_000))))
        }
        let three = ["a", "b", "c"].map { post($0) }
        #expect(
            scenario.apply(.postBatch(three, PostTerms())) == .refused(.timersFull(limit: 2)))
        #expect(scenario.timerTexts == [])
        scenario.apply(.postBatch(Array(three.prefix(2)), PostTerms()))
        #expect(scenario.timerTexts == ["a at 5", "b at 5"])
    }

    @Test("what is due while the queue is full waits until it has room, and asks for nothing")
    mutating func waitsForRoom() {
        var limits = CenterLimits()
        limits.queueEntryLimit = 2
        scenario = Scenario(limits: limits)
        scenario.enter("modal", 1)
        for name in ["a", "b"] { scenario.say(name, style: .asap) }
        scenario.later("c", after: 10, modes: ["modal"])
        scenario.milliseconds += 10
        scenario.apply(.passTime(workLimit: .max))
        #expect(scenario.center.needs.timerDeadline == .max && scenario.timerTexts.count == 1)
        scenario.apply(
            .dequeue(
                QueueMatch(name: bytes("a"), object: nil, mask: .onName, scope: .everything)))
        #expect(scenario.center.needs.timerDeadline <= scenario.time.timerNanoseconds)
        #expect(scenario.turn() == ["c"])
    }

    @Test("many that are due at once fire in shares, in their order")
    mutating func firesInShares() {
        for number in 0..<1_000 { scenario.later("a\(number)/o\(number)", after: 100) }
        scenario.milliseconds += 100
        scenario.apply(.passTime(workLimit: 160))
        #expect(scenario.center.needs.queueCount == 10)
        scenario.apply(.passTime(workLimit: .max))
        #expect(scenario.center.needs.queueCount == 10 + NotificationCenter.timerShare)
        var texts: [String] = []
        for _ in 0..<20 { texts += scenario.turn() }
        #expect(texts == (0..<1_000).map { "a\($0)/o\($0)" })
    }

    @Test("time in which the process stood still counts for timers, and for nothing else")
    mutating func runsOnItsOwnClock() {
        scenario.later("a1", after: 10_000)
        func pass(_ attended: Int64, _ all: Int64) {
            let time = CommandTime(
                wallMilliseconds: 1_000 + all, monotonicNanoseconds: (1_000 + attended) * 1_000_000,
                timerNanoseconds: (1_000 + all) * 1_000_000)
            let index = scenario.center.appliedIndex + 1
            let id = CommandID(node: 1, incarnation: 1, counter: index)
            scenario.center.apply(
                Command(id: id, time: time, action: .passTime(workLimit: .max)), at: index,
                into: &scenario.effects)
        }
        pass(2_000, 9_999)
        #expect(scenario.queueTexts == [])
        pass(2_001, 10_000)
        #expect(scenario.queueTexts == ["a1 asap"])
    }

    @Test("an idempotency key repeats the answer of a timer")
    mutating func keyed() {
        let post = scenario.newPost(text: "a", style: .asap)
        let timed = Post(
            id: post.id, content: post.content,
            options: PostOptions(style: .asap, timer: TimerTerms(start: .after(5_000_000))))
        var terms = PostTerms()
        terms.details = .keyed("k")
        scenario.apply(.post(timed, terms))
        scenario.apply(.post(timed, terms))
        #expect(scenario.effects.outcome == .replayed(form: 2))
        #expect(scenario.effects.receipts[0].state == .timed(dueAt: 1_005))
        #expect(scenario.timerTexts.count == 1)
    }
}
