import BelfryLoop
import Testing

@testable import BelfryClient

/// Where observers begin, and how they go on after a lost connection.
@Suite("ClientLoop: observers that begin in the past")
struct ClientBeginningTests {
    private static let options: ClientOptions = {
        var options = ClientOptions()
        options.reconnects = true
        options.resumes = false
        return options
    }()

    /// Registers an observer on a connection whose last number is 5.
    private func observe(
        _ broker: ScriptedBroker, since: Beginning?, selector: String = "notify"
    ) throws -> NotificationBuffer {
        let buffer = NotificationBuffer(Self.options)
        let wish = ObserverWish(
            name: "A", object: nil, selector: selector, since: since, buffer: buffer)
        let answer = try broker.submit { .addObserver(wish, $0) }
        try broker.answerLast(#"{"id":"o1","token":"o1.t","since":5}"#)
        try #require(answer.isSuccess)
        return buffer
    }

    /// The member of the last registration that says where it begins.
    private func beginning(_ broker: ScriptedBroker) throws -> String {
        let text = try #require(try broker.heard().last)
        let call = try #require(JSONObject(Array(text.utf8)))
        let params = try #require(call.raw("params").flatMap(JSONObject.init))
        return ["since", "last", "lastEach"].compactMap { name in
            params.raw(name).map { "\(name) \(String(decoding: $0, as: UTF8.self))" }
        }.joined(separator: ", ")
    }

    @Test(
        "a registration says where it begins",
        arguments: [
            (7, #"{"since":7}"#),
            (.from("2026-11-22T06:00:00Z"), #"{"since":"2026-11-22T06:00:00Z"}"#),
            (.oldest, #"{"since":"oldest"}"#), (.last(3), #"{"last":3}"#),
            (.lastEach(1), #"{"lastEach":1}"#),
        ] as [(Beginning, String)])
    func members(beginning: Beginning, json: String) {
        let written = RPCRequest.params { beginning.write(&$0, &$1) }
        #expect(String(decoding: written, as: UTF8.self) == json)
    }

    @Test("what the past has below the number of the registration is delivered, once")
    func past() async throws {
        let broker = try ScriptedBroker.opened(Self.options)
        let buffer = try observe(broker, since: .oldest)
        for number in [2, 4, 4, 6] { try broker.deliver(number, more: #","redelivered":true"#) }
        try broker.deliver(7)
        for number: UInt64 in [2, 4, 6, 7] { #expect(try await buffer.next()?.sequence == number) }
    }

    @Test(
        "while nothing has come it begins again as it was said, or at the number it joined at",
        arguments: [
            (.oldest, #"since "oldest""#), (.from("2026"), #"since "2026""#),
            (.after(3), "since 3"),
            (.last(2), "since 5"), (.lastEach(1), "since 5"), (nil, "since 5"),
        ] as [(Beginning?, String)])
    func nothingCame(since: Beginning?, again: String) throws {
        let broker = try ScriptedBroker.opened(Self.options)
        _ = try observe(broker, since: since)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        #expect(try beginning(broker) == again)
    }

    @Test(
        "a past that was cut goes on behind what came",
        arguments: [.oldest, .from("2026"), 0, .last(9), .lastEach(9)] as [Beginning])
    func cut(since: Beginning) throws {
        let broker = try ScriptedBroker.opened(Self.options)
        _ = try broker.observe(selector: "also")
        try broker.deliver(5, to: "also")
        _ = try observe(broker, since: since)
        try broker.deliver(2, more: #","redelivered":true"#)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        // Another observer had number 5 before this one was registered.
        #expect(try beginning(broker) == "since 2")
    }

    @Test("what came live has come behind the past")
    func live() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        _ = try broker.observe(selector: "also")
        _ = try observe(broker, since: .oldest)
        try broker.deliver(2, more: #","redelivered":true"#)
        try broker.deliver(9, to: "also")
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        #expect(try beginning(broker) == "since 8")
    }

    @Test("a session goes on from the beginning of an observer that was given nothing yet")
    func session() throws {
        var options = Self.options
        options.resumes = true
        let broker = try ScriptedBroker.opened(options)
        _ = try observe(broker, since: .last(2))
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        #expect(try broker.heard().last?.contains(#""after":5"#) == true)
    }

    @Test("after a restart without its numbers everything is to come")
    func restart() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        _ = try observe(broker, since: .lastEach(1))
        broker.peer?.close()
        try broker.crank()
        try broker.reopen(epoch: "k4")
        #expect(try beginning(broker) == "since 0")
    }

    @Test("an event stream and a mailbox say the same")
    func requests() {
        #expect(Beginning.oldest.parameter == ("since", "oldest"))
        #expect(Beginning.lastEach(2).parameter == ("lastEach", "2"))
        let mailbox = HTTPRequest.mailbox(forName: "A", object: nil, since: .last(2))
        #expect(
            String(decoding: mailbox.content, as: UTF8.self)
                == #"{"name":"A","lifetime":"token","last":2}"#)
    }
}
