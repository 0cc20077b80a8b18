import BelfryJSON
import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: values over a restart (Rules.md, V10, V15 to V17)")
struct StoredValueTests {
    private var scenario = Scenario()

    @Test(
        "V15 (T281): a value is told to the store whole, and is there after a restart, with its tag"
    )
    func restarts() {
        var stored = StoredScenario()
        stored.run { $0.put("o", "a", "1") }
        stored.run { $0.put("o", "b", "2") }
        stored.run { $0.put("p", "a", "1") }
        stored.run { $0.delete("p", "") }
        let tag = stored.scenario.tag("o")
        stored.restart(isComplete: false)
        #expect(stored.scenario.value("o") == #"{"a":1,"b":2}"#)
        #expect(stored.scenario.tag("o") == tag && stored.scenario.value("p") == "none")
        #expect(stored.scenario.center.valueCount == 1)
    }

    @Test(
        "V10: after a restart, who saw the last change gets nothing, and who may not have gets the value"
    )
    func observersAfterRestart() {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) { $0.behavior = .hold } }
        stored.run { $0.look("p", "a", by: client) }
        stored.run { $0.put("o", "a", "1") }
        stored.run { $0.put("p", "a", "1") }
        stored.run { $0.cut(client) }
        stored.run { $0.put("o", "a", "2") }
        stored.restart()
        stored.run { $0.back(client, after: 2) }
        #expect(
            stored.scenario.seen == [#"o1 a {"kind":"set","initial":true,"new":2} @3*"#])
        stored.run { $0.cut(client) }
        stored.run { $0.back(client, after: 3) }
        #expect(stored.scenario.seen.isEmpty)
    }

    @Test("V15: after a crash, who saw a change that was not stored has the value that is")
    func unstoredChange() {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) }
        stored.run { $0.put("o", "a", "1") }
        // Its frame leaves, its commit does not happen.
        stored.scenario.put("o", "a", "2")
        stored.restart(isComplete: false)
        stored.run { $0.back(client, after: 2) }
        #expect(
            stored.scenario.seen == [#"o1 a {"kind":"set","initial":true,"new":1} @1*"#])
    }

    @Test("V10: after a restart, a number may be of one frame of several")
    func oneOfSeveral() {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        for path in ["a", "a.b", "c"] { stored.run { $0.look("o", path, by: client) } }
        stored.run { $0.put("o", "a.b", "1") }
        // The line ended behind the frame of the first.
        stored.restart(isComplete: false)
        stored.run { $0.back(client, after: 1) }
        #expect(
            stored.scenario.seen == [
                #"o2 a.b {"kind":"set","initial":true,"new":1} @1*"#,
                #"o3 c {"kind":"removed","initial":true} @1*"#,
            ])
    }

    @Test("V16, V17: ttl goes on over a restart; leases run anew from the start, for 30 s at least")
    func partsAfterRestart() {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        stored.run { $0.look("q", "", by: client) }
        stored.run { $0.put("o", "a", "1") { $0.ttl = 10_000 } }
        stored.run {
            $0.put("o", "b", "1") {
                $0.client = client
                $0.lease = 200
            }
        }
        stored.scenario.milliseconds += 4_000
        stored.restart(isComplete: false)
        stored.run { $0.pass(milliseconds: 5_999) }
        #expect(stored.scenario.value("o") == #"{"a":1,"b":1}"#)
        stored.run { $0.pass(milliseconds: 1) }
        #expect(stored.scenario.value("o") == #"{"b":1}"#)
        stored.run { $0.back(client) }
        stored.run { $0.pass(milliseconds: 60_000) }
        #expect(stored.scenario.value("o") == #"{"b":1}"#)
        stored.restart(isComplete: false)
        stored.run { $0.pass(milliseconds: 29_999) }
        #expect(stored.scenario.value("o") == #"{"b":1}"#)
        stored.run { $0.pass(milliseconds: 1) }
        #expect(stored.scenario.value("o") == "{}")
    }

    @Test(
        "V17: a client that has entries alone is stored with them, and comes back after a restart")
    func clientAfterRestart() {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        for path in ["a", "a"] {
            stored.run {
                $0.put("o", path, "1") {
                    $0.client = client
                    $0.lease = 200
                }
            }
        }
        stored.restart(isComplete: false)
        stored.run { $0.pass(milliseconds: 29_999) }
        let newcomer = stored.run { $0.connect() }
        stored.run {
            $0.put("o", "b", "1") {
                $0.client = newcomer
                $0.lease = 200
            }
        }
        let resumption = Resumption(newcomer: newcomer, client: client, after: nil)
        stored.run { $0.apply(.resume(resumption)) }
        stored.run { $0.pass(milliseconds: 60_000) }
        #expect(stored.scenario.value("o") == #"{"a":1,"b":1}"#)
        #expect(stored.stored.image.clients.map(\.id) == [client])
        // The newcomer's write belongs to the client, also in the store.
        stored.restart()
        stored.run { $0.back(client) }
        stored.run { $0.pass(milliseconds: 60_000) }
        #expect(stored.scenario.value("o") == #"{"a":1,"b":1}"#)
        stored.run { $0.cut(client) }
        stored.run { $0.pass(milliseconds: 200) }
        #expect(stored.scenario.value("o") == "{}" && stored.stored.image.clients.isEmpty)
    }

    @Test("V10: a mailbox has the present value after a restart if it has not acknowledged it")
    func mailboxAfterRestart() {
        var stored = StoredScenario()
        let first = stored.run { $0.lookingMailbox("o", "a") { $0.behavior = .hold } }
        let second = stored.run { $0.lookingMailbox("o", "a") { $0.behavior = .hold } }
        stored.run { $0.put("o", "a", "1") }
        stored.run { $0.put("o", "a", "2") }
        stored.run { $0.apply(.readMailbox(observer: second, through: 2)) }
        stored.restart()
        #expect(
            stored.scenario.mail(first) == [#"a {"kind":"set","initial":true,"new":2} @2"#])
        #expect(stored.scenario.mail(second).isEmpty)
    }
}
