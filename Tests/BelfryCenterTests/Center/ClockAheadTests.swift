import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what a clock that was ahead has stored (Rules.md, L6, R20 and V16)")
struct ClockAheadTests {
    private static let day: Int64 = 86_400_000
    private var stored = StoredScenario()

    /// Does something while the clock is a day ahead; the broker is killed, and starts with the
    /// right time.
    private mutating func restart(after body: (inout StoredScenario) -> Void) {
        stored.scenario.milliseconds += Self.day
        body(&stored)
        stored.scenario.milliseconds -= Self.day
        stored.restart(isComplete: false)
    }

    @Test("L6: a timer is due one delay from the start at the latest, and keeps its id")
    mutating func once() {
        var id = NotificationID(high: 0, low: 0)
        restart { stored in id = stored.run { $0.later("a1/o", after: 5_000) } }
        #expect(stored.turn(after: 4_999) == [])
        #expect(stored.turn(after: 1) == ["a1/o"])
        #expect(stored.scenario.effects.notifications[0].id == id)
    }

    @Test("L6: a repeating timer is due one period from the start, and its grid begins there")
    mutating func again() {
        restart { stored in
            stored.run { $0.later("r", after: 60_000, every: 1_000) }
            #expect(stored.turn(after: 60_000) == ["r"])
        }
        #expect(stored.turn(after: 999) == [])
        #expect(stored.turn(after: 1) == ["r"])
        #expect(stored.turn(after: 1_000) == ["r"])
        #expect(stored.scenario.timerTexts.first?.hasSuffix("fired 3 missed 0") == true)
    }

    @Test("L6: before its first firing a repeating timer is due one delay from the start")
    mutating func first() {
        restart { stored in _ = stored.run { $0.later("r", after: 4_000, every: 1_000) } }
        #expect(stored.turn(after: 3_999) == [])
        #expect(stored.turn(after: 1) == ["r"])
        #expect(stored.turn(after: 1_000) == ["r"])
    }

    @Test("L6: a time of day is kept, whatever the clock was")
    mutating func timeOfDay() {
        restart { stored in
            let at = stored.scenario.milliseconds + 5_000
            _ = stored.run { $0.later("a1", at: at) }
        }
        #expect(stored.turn(after: 6_000) == [])
        #expect(stored.turn(after: Self.day - 1_001) == [])
        #expect(stored.turn(after: 1) == ["a1"])
    }

    @Test("L6: the store knows the earlier time: the next start does not begin anew")
    mutating func isStored() {
        restart { stored in _ = stored.run { $0.later("a1", after: 5_000) } }
        stored.scenario.milliseconds += 3_000
        stored.restart(isComplete: false)
        #expect(stored.turn(after: 1_999) == [])
        #expect(stored.turn(after: 1) == ["a1"])
    }

    @Test("L6: what is due by a right clock is left where it is")
    mutating func rightClock() {
        stored.run { $0.later("r", after: 0, every: 1_000) }
        #expect(stored.turn() == ["r"])
        stored.scenario.milliseconds += 400
        stored.restart(isComplete: false)
        #expect(stored.turn(after: 599) == [])
        #expect(stored.turn(after: 1) == ["r"])
    }

    @Test("V16: what has a ttl goes one whole ttl after the start at the latest")
    mutating func values() {
        stored.run { $0.put("o", "early", "1") { $0.ttl = 9_000 } }
        restart { stored in
            stored.run { $0.put("o", "a", "1") { $0.ttl = 5_000 } }
            stored.run { $0.put("o", "b", "1") }
        }
        stored.run { $0.pass(milliseconds: 4_999) }
        #expect(stored.scenario.value("o") == #"{"a":1,"b":1,"early":1}"#)
        stored.run { $0.pass(milliseconds: 1) }
        #expect(stored.scenario.value("o") == #"{"b":1,"early":1}"#)
        stored.run { $0.pass(milliseconds: 4_000) }
        #expect(stored.scenario.value("o") == #"{"b":1}"#)
    }

    @Test("R20: an ask ends one whole time after the start at the latest")
    mutating func asks() {
        var id = NotificationID(high: 0, low: 0)
        restart { stored in
            let client = stored.run { $0.connect() }
            stored.run { $0.respond("w", ["s"], by: client) { $0.behavior = .hold } }
            id = stored.run {
                $0.ask("w", "s") {
                    $0.lifetime = 5_000
                    $0.wait = 0
                }
            }
        }
        stored.run { $0.pass(milliseconds: 4_999) }
        #expect(stored.scenario.center.ask(id, at: stored.scenario.time)?.isOpen == true)
        stored.run { $0.pass(milliseconds: 1) }
        #expect(stored.scenario.center.ask(id, at: stored.scenario.time)?.isOpen == false)
    }
}

extension NotificationCenter.AskFate {
    fileprivate var isOpen: Bool {
        if case .open = outcome.state { true } else { false }
    }
}
