import Testing

@testable import BelfryServer

/// A usual post takes a fast way; its result must be that of the long way.
///
/// A post that says how long to wait takes the long way: here as long as is usual.
@Suite("Posts in a fast way and in the long one")
struct FastWayTests {
    /// The answers and frames of a run, without parts that differ from run to run.
    private struct Told {
        var answers: [[Value]] = []
        var deliveries: [[Value]] = []
    }

    /// One post, as a poster writes it.
    private struct Written {
        let target: String
        let body: String
    }

    private static let targets = [
        "/v1/channels/a", "/v1/channels/b", "/v1/channels/a%62", "/v1/channels/a?object=o",
        "/v1/channels/a?object=o&style=asap", "/v1/channels/a?style=idle&coalesce=name",
        "/v1/channels/a?style=asap&coalesce=name,sender", "/v1/channels/belfry.a",
        "/v1/channels/a?style=never", "/v1/centers/other/channels/a",
        "/v1/centers/other/channels/a?style=asap", "/v1/notifications", "/v1/notifications",
        "/v1/notifications?report=observers", "/v1/centers/other/notifications",
    ]

    /// Random posts; a run of them repeats its target, so that heads repeat.
    private static func posts(seed: UInt64) -> [Written] {
        var random = SplitMix(seed: seed)
        var target = targets[0]
        return (0..<40).map { _ in
            if Int.random(in: 0..<4, using: &random) == 0 {
                target = targets[Int.random(in: 0..<targets.count, using: &random)]
            }
            let isWhole = target.contains("notifications")
            let written = isWhole ? notification(using: &random) : body(using: &random)
            return Written(target: target, body: written)
        }
    }

    /// A notification, mostly of a name, an object and a userInfo, and now and then a batch.
    private static func notification(using random: inout SplitMix) -> String {
        let userInfo = body(using: &random)
        var members = [
            [
                "\"name\":\"a\"", "\"name\" : \"c\"", "\"name\":\"\"", "\"name\":\"\\u0061\"",
                "\"name\":7",
            ],
            [
                "\"object\":\"o\"", "\"object\":null", "\"object\":\"ö\"", "\"object\":\"\"",
                "\"objecT\":1",
            ],
            [
                "\"userInfo\":\(userInfo)", "\"userInfo\": {} ", "\"userInfo\":null",
                "\"userInfo\":{",
            ],
            ["\"style\":\"asap\"", "\"name\":\"b\"", "\"userInfo\":{}", "\"n\\u0061me\":\"a\""],
        ].enumerated().compactMap { place, forms -> String? in
            // Unusual parts come once in a while.
            let isUsual = Int.random(in: 0..<5, using: &random) > 0
            if place == 3, isUsual { return nil }
            if place == 1, Bool.random(using: &random) { return nil }
            return isUsual ? forms[0] : forms.randomElement(using: &random)
        }
        if Int.random(in: 0..<4, using: &random) == 0 { members.shuffle(using: &random) }
        let space = Bool.random(using: &random) ? "" : " "
        let whole = "\(space){\(members.joined(separator: "," + space))\(space)}\(space)"
        return Int.random(in: 0..<10, using: &random) == 0 ? "[\(whole)]" : whole
    }

    /// A JSON object, and now and then something else.
    private static func body(using random: inout SplitMix) -> String {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return ""
        case 1: return "[1]"
        case 2: return #"{"a":1"#
        case 3: return #"{"a":01}"#
        default:
            let count = Int.random(in: 0..<4, using: &random)
            let members = (0..<count).map { place in
                let value = [
                    "\(Int.random(in: -9...99, using: &random))", #""\u0041\n""#, "[true, null]",
                    #"{"x":1.5e3}"#, #""\#(String(repeating: "y", count: 90))""#,
                ]
                return #""k\#(place)":\#(value[Int.random(in: 0..<5, using: &random)])"#
            }
            return "{" + members.joined(separator: ",") + "}"
        }
    }

    private func told(
        _ posts: [Written], loopCount: Int, fields: [String]
    ) throws -> Told {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe("a")
        try socket.observe("c")
        let poster = try broker.http(loop: loopCount - 1)
        var told = Told()
        for post in posts {
            let response = try poster.request(
                "POST", post.target, post.body,
                fields: ["Content-Type: application/json"] + fields)
            let json = response.json
            var answer: [Value] = [.number(Double(response.status))]
            answer.append(.text(response.problem ?? ""))
            answer += [json["seq"], json["matched"], json["errors"]]
            answer.append(.boolean(response.field("location") == nil))
            answer.append(.boolean(json["id"] == .null))
            told.answers.append(answer)
        }
        told.deliveries = try socket.takeNotifications().map { params in
            ["name", "object", "userInfo", "seq"].map { params[$0] }
        }
        return told
    }

    @Test("both answer and deliver alike", arguments: 1...10, [1, 2])
    func alike(seed: Int, loopCount: Int) throws {
        let posts = Self.posts(seed: UInt64(seed))
        let fast = try told(posts, loopCount: loopCount, fields: [])
        let long = try told(posts, loopCount: loopCount, fields: ["Prefer: wait=5"])
        #expect(fast.answers == long.answers)
        #expect(fast.deliveries == long.deliveries)
        #expect(!fast.deliveries.isEmpty)
    }
}
