import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what counts only on the connection of its client (decision 109)")
struct OnConnectionTests {
    /// Applies a command of a connection, which may be late.
    private func say(
        _ action: Command.Action, of client: UInt64, on number: UInt64, _ scenario: inout Scenario
    ) -> Outcome {
        scenario.apply(
            .onConnection(
                ClientConnection(client: client, connection: connection(number)), action))
    }

    @Test("on its own connection a client is suspended, slow, and goes on")
    func ownConnection() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        #expect(say(.setSuspended(client: client, true), of: client, on: 101, &scenario) == .done)
        #expect(scenario.state(client) == .asked)
        #expect(say(.becomeSlow(client: client), of: client, on: 101, &scenario) == .done)
        #expect(scenario.state(client) == .slow)
        scenario.say("a1")
        #expect(say(.drain(client: client), of: client, on: 101, &scenario) == .done)
        #expect(scenario.state(client) == .asked)
        #expect(say(.setSuspended(client: client, false), of: client, on: 101, &scenario) == .done)
        #expect(scenario.frames == ["a1"] && scenario.state(client) == .live)
    }

    @Test("a connection that was taken over suspends nobody, and its client gets what is posted")
    func takenOver() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.back(client)
        let late: [Command.Action] = [
            .setSuspended(client: client, true), .becomeSlow(client: client),
            .drain(client: client),
            .enterMode(
                ModeEntry(
                    serial: 1, tokenHash: SecretHash(high: 1, low: 1), mode: bytes("modal"),
                    client: client, lease: nil)),
        ]
        for action in late {
            #expect(
                say(action, of: client, on: 101, &scenario) == .refused(.unknownClient))
        }
        #expect(scenario.center.modes.stack.isEmpty)
        scenario.say("a1")
        #expect(scenario.frames == ["a1"] && scenario.state(client) == .live)
    }

    @Test("a connection that has ended registers no observer for a client that lasts")
    func ended() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.cut(client)
        let registration = scenario.registration("b", nil)
        #expect(
            say(
                .addObserver(registration, client: client, since: nil), of: client, on: 101,
                &scenario) == .refused(.unknownClient))
        #expect(scenario.center.observerCount == 1)
        #expect(say(.drain(client: 99), of: 99, on: 101, &scenario) == .refused(.unknownClient))
    }

    @Test("a stream that was replaced makes its mailbox not slow; the one that reads it does")
    func streams() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        let client = scenario.center.observer(serial)?.client ?? 0
        for number: UInt64 in [501, 502] {
            scenario.apply(.attachStream(observer: serial, connection(number)))
        }
        #expect(
            say(.becomeSlow(client: client), of: client, on: 501, &scenario)
                == .refused(.unknownClient))
        scenario.say("a1")
        #expect(scenario.frames == ["a1"])
        #expect(say(.becomeSlow(client: client), of: client, on: 502, &scenario) == .done)
        scenario.say("a2")
        #expect(scenario.frames.isEmpty && scenario.state(client) == .slow)
        #expect(say(.drain(client: client), of: client, on: 502, &scenario) == .done)
        #expect(scenario.frames == ["a2"])
    }
}
