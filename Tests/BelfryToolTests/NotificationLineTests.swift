import BelfryClient
import Testing

@testable import belfry

@Suite("NotificationLine: what people and programs read")
struct NotificationLineTests {
    private func notification(_ members: String) throws -> ReceivedNotification {
        let json =
            #"{"id":"n","seq":1,"name":"A","postedAt":"2026-11-21T08:00:01.250Z"\#(members)}"#
        return try ReceivedNotification(json: Array(json.utf8))
    }

    @Test(
        "for people a line has the time, the name, the object and the userInfo",
        arguments: [
            ("", "08:00:01.250Z  A"),
            (#","object":"o","userInfo":{"n": 1}"#, #"08:00:01.250Z  A  o  {"n": 1}"#),
            (#","redelivered":true"#, "08:00:01.250Z  A  (again)"),
            ("\n,\"userInfo\":{\n\"n\":1}", #"08:00:01.250Z  A  { "n":1}"#),
            (#","object":"\u001b[2J""#, "08:00:01.250Z  A  \\u001b[2J"),
            (",\"userInfo\":{\"a\":\"\u{9B}\"}", "08:00:01.250Z  A  {\"a\":\"\\u009b\"}"),
        ])
    func people(members: String, text: String) throws {
        let plain = NotificationLine(
            isForPeople: true, paint: Paint(environment: ["NO_COLOR": "1"]))
        #expect(
            String(decoding: plain.line(try notification(members)).bytes, as: UTF8.self) == text)
    }

    @Test(
        "colors are for terminals of those who want them",
        arguments: [
            (["NO_COLOR": "1"], false), (["TERM": "dumb"], false), (["NO_COLOR": ""], true),
            (["TERM": "xterm"], true), ([:], true),
        ])
    func colors(environment: [String: String], isColored: Bool) throws {
        let shape = NotificationLine(isForPeople: true, paint: Paint(environment: environment))
        #expect(shape.line(try notification("")).bytes.contains(0x1B) == isColored)
    }

    @Test("for programs a line is the notification as the broker wrote it")
    func programs() throws {
        let shape = NotificationLine(isForPeople: false, paint: Paint(environment: [:]))
        let notification = try notification(#","object":"o""#)
        #expect(shape.line(notification) == PrintedLine(notification.json))
    }
}

@Suite("ConnectionTeller: what a follower says of its connection")
struct ConnectionTellerTests {
    @Test("it is away once, however many attempts fail, and then it is back")
    func once() {
        var teller = ConnectionTeller()
        let states: [ConnectionState] = [
            .open, .away(.connectionLost), .away(.connectionFailed(errno: 111)), .open, .open,
            .away(.timedOut), .over(.timedOut),
        ]
        #expect(
            states.map { teller.text(of: $0) } == [
                nil, "the broker ended the connection; trying to connect again", nil,
                "connected again", nil,
                "the broker did not answer in time; trying to connect again", nil,
            ])
    }
}
