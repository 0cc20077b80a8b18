import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: observers of values that come back after restarts (Rules.md, V10, V15)")
struct ValueRestartTests {
    private var stored = StoredScenario()

    @Test("V10: who names no position after a restart has the present value, and once")
    mutating func noPosition() {
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) }
        stored.run { $0.put("o", "a", "1") }
        stored.restart()
        stored.run { $0.back(client) }
        #expect(stored.scenario.seen == [#"o1 a {"kind":"set","initial":true,"new":1} @1*"#])
        stored.run { $0.cut(client) }
        stored.run { $0.back(client) }
        #expect(stored.scenario.seen.isEmpty)
    }

    @Test("V10: a mark outlives a stop, though another observer was written its number")
    mutating func markOfTheLastNumber() {
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) { $0.behavior = .deliverImmediately } }
        stored.run { $0.look("o", "a", by: client) }
        stored.run { $0.apply(.setSuspended(client: client, true)) }
        stored.run { $0.put("o", "a", "1") }
        #expect(stored.scenario.seen == [#"o1 a {"kind":"set","new":1} @1"#])
        stored.restart()
        stored.run { $0.back(client, after: 1) }
        #expect(stored.scenario.seen.isEmpty)
        stored.run { $0.apply(.setSuspended(client: client, false)) }
        #expect(stored.scenario.seen == [#"o2 a {"kind":"set","initial":true,"new":1} @1*"#])
    }

    @Test("V10: a mark outlives a stop, though what the other observer sees has changed again")
    mutating func markBesideALaterChange() {
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "", by: client) { $0.behavior = .deliverImmediately } }
        stored.run { $0.look("o", "a", by: client) }
        stored.run { $0.apply(.setSuspended(client: client, true)) }
        stored.run { $0.put("o", "a", "1") }
        #expect(stored.scenario.seen.count == 1)
        stored.restart()
        stored.run { $0.put("o", "b", "2") }
        stored.run { $0.back(client, after: 1) }
        let seen = stored.scenario.seen
        #expect(seen.first == #"o2 a {"kind":"set","initial":true,"new":1} @1*"#)
    }

    @Test(
        "V10: of the number that a client names the first observer has had its frame",
        arguments: [true, false])
    mutating func firstOfANumber(isComplete: Bool) {
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) }
        stored.run { $0.look("o", "a", by: client) }
        stored.run { $0.put("o", "a", "1") }
        stored.restart(isComplete: isComplete)
        stored.run { $0.back(client, after: 1) }
        // A broker that stops in order has written all of it; when it dies, the line may end
        // between two frames.
        #expect(
            stored.scenario.seen
                == (isComplete ? [] : [#"o2 a {"kind":"set","initial":true,"new":1} @1*"#]))
    }

    @Test(
        "V10: who may have had the first frame alone has it again, and who sees no change nothing",
        arguments: [true, false])
    mutating func firstFrameAlone(isComplete: Bool) {
        stored.run { $0.put("o", "a", "1") }
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) { $0.initial = true } }
        stored.run { $0.apply(.drain(client: client)) }
        #expect(stored.scenario.seen == [#"o1 a {"kind":"set","initial":true,"new":1} @1"#])
        stored.restart(isComplete: isComplete)
        stored.run { $0.back(client, after: 1) }
        // The answer to the registration has said the number, too.
        #expect(
            stored.scenario.seen
                == (isComplete ? [] : [#"o1 a {"kind":"set","initial":true,"new":1} @1*"#]))
    }

    @Test(
        "V15: who saw a change that was not stored has the value that is, two restarts later",
        arguments: [true, false])
    mutating func lostBeforeTheLastLife(isComplete: Bool) {
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) }
        stored.run { $0.put("o", "a", "1") }
        // Its frame leaves, its commit does not happen.
        stored.scenario.put("o", "a", "2")
        stored.restart(isComplete: false)
        stored.run { $0.put("p", "a", "1") }
        stored.restart(isComplete: isComplete)
        stored.run { $0.back(client, after: 2) }
        #expect(stored.scenario.seen == [#"o1 a {"kind":"set","initial":true,"new":1} @1*"#])
    }

    @Test("V10: who saw what was stored gets nothing, however many restarts there were since")
    mutating func storedBeforeTheLastLife() {
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) }
        stored.run { $0.put("o", "a", "1") }
        stored.run { $0.put("q", "a", "1") }
        stored.restart(isComplete: false)
        stored.run { $0.put("p", "a", "1") }
        stored.restart(isComplete: false)
        stored.run { $0.put("p", "a", "2") }
        stored.restart()
        stored.run { $0.back(client, after: 2) }
        #expect(stored.scenario.seen.isEmpty)
    }

    @Test(
        "V10: what changed at a place that nobody observed is known to a stream that comes back to it"
    )
    mutating func unobservedPlace() {
        stored.run { $0.put("o", "a.b", "1") }
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a.b", by: client) }
        stored.run { $0.put("o", "a.c", "2") }
        let registration = stored.scenario.observer(of: "o", "a") { $0.endsWithConnection = true }
        let stream = stored.run { $0.connect([registration], since: 1, transport: .events) }
        stored.run { $0.apply(.drain(client: stream)) }
        #expect(
            stored.scenario.seen == [
                #"o2 a {"kind":"set","initial":true,"new":{"b":1,"c":2}} @2"#
            ])
    }

    @Test("V16, V17: a client that loses its last entry while the broker is down is no more")
    mutating func clientEndsWhileDown() {
        let other = stored.run { $0.connect() }
        stored.run { $0.look("o", "", by: other) }
        let client = stored.run { $0.connect() }
        stored.run {
            $0.put("o", "a", "1") {
                $0.client = client
                $0.lease = 60_000
                $0.ttl = 1_000
            }
        }
        stored.scenario.milliseconds += 1_000
        stored.restart(isComplete: false)
        #expect(stored.scenario.value("o") == "{}")
        #expect(stored.scenario.state(client) == nil)
        #expect(stored.scenario.state(other) == .disconnected)
        // The store knows, and another start finds nothing left.
        stored.restart(isComplete: false)
        #expect(stored.scenario.state(client) == nil)
        #expect(stored.run { $0.back(other) } != .refused(.unknownClient))
    }
}

@Suite("StoredNumbers")
struct StoredNumbersTests {
    @Test("a number with a stored one close above it is of the same life, and was stored")
    func reach() {
        let block = NotificationCenter.sequenceBlock
        let numbers = StoredNumbers([block + 9, 5, 7, block + 5], through: 2 * block)
        for stored in [0, 5, 6, 7, block + 5 - StoredNumbers.reach + 1, block + 7, block + 9] {
            #expect(!numbers.mayBeLost(stored), "\(stored)")
        }
        for lost in [8, block + 5 - StoredNumbers.reach, block + 10, 2 * block] {
            #expect(numbers.mayBeLost(lost), "\(lost)")
        }
        // It is of this life.
        #expect(!numbers.mayBeLost(2 * block + 1))
        #expect(!StoredNumbers().mayBeLost(1))
        #expect(StoredNumbers([], through: 9).mayBeLost(9))
        #expect(!StoredNumbers([9], through: 9).mayBeLost(9))
    }
}
