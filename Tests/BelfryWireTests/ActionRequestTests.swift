import BelfryCenter
import BelfryWire
import Testing

@Suite("RequestReader.observer: targets")
struct ActionRequestTests {
    private let reader = RequestReader()
    private static let least = #""name":"touchUp","target":"lamp","selector":"toggle""#

    private func faults(_ members: String, allowsSession: Bool = false) -> [String]? {
        problem { () throws(Problem) in
            try reader.observer("{\(members)}", allowsSession: allowsSession)
        }?.faultTexts
    }

    @Test(
        "name, target and selector make an action; object, acknowledge, lease, lifetime and session may stand with them"
    )
    func all() throws {
        let request = try reader.observer(
            "{\(Self.least)}", allowsSession: false)
        #expect(request.role == .action(target: bytes("lamp")))
        #expect(request.name == bytes("touchUp") && request.selector == bytes("toggle"))
        #expect(request.object == nil && request.terms == ObserverTerms())
        let more = try reader.observer(
            "{\(Self.least),"
                + #""object":"s1","acknowledge":true,"lease":7,"session":"c4.Qz"}"#,
            allowsSession: true)
        #expect(more.object == bytes("s1") && more.terms.acknowledges)
        #expect(more.terms.lease == 7_000_000_000 && more.session == bytes("c4.Qz"))
    }

    @Test("a mailbox with a target may acknowledge: its responder answers")
    func mailbox() throws {
        let text = "{\(Self.least)," + #""acknowledge":true}"#
        #expect(try reader.observer(text, allowsSession: true).terms.acknowledges)
    }

    @Test("null is no target")
    func none() throws {
        #expect(
            try reader.observer(#"{"name":"a","target":null}"#, allowsSession: false).role == .plain
        )
    }

    @Test(
        "a fault is told with its pointer",
        arguments: [
            (#""target":"lamp","selector":"toggle""#, "#/name is required with target"),
            (
                #""name":null,"target":"lamp","selector":"toggle""#,
                "#/name is required with target"
            ),
            (#""name":"touchUp","target":"lamp""#, "#/selector is required with target"),
            (
                #""name":"touchUp","target":"lamp","selector":null"#,
                "#/selector is required with target"
            ),
            (
                least + #","suspensionBehavior":"hold""#,
                "#/suspensionBehavior cannot be combined with target, whose responder decides"
            ),
            (
                least + #","holdLimit":1"#,
                "#/holdLimit cannot be combined with target, whose responder decides"
            ),
            (
                least + #","minInterval":1"#,
                "#/minInterval cannot be combined with target, whose responder decides"
            ),
            (
                least + #","since":0"#,
                "#/since cannot be combined with target, whose responder decides"
            ),
            (least + #","next":"n""#, "#/next requires the field implements"),
            (least + #","concurrency":1"#, "#/concurrency requires the field implements"),
            (#""name":"a","selector":"b","target":"""#, "#/target must have 1 to 255 characters"),
        ])
    func faults(members: String, expected: String) {
        #expect(faults(members) == [expected])
    }
}
