import Testing

@testable import BelfryServer

/// The decisions about a head are used again for an equal head, without a visible difference.
@Suite("Posts and asks whose heads repeat")
struct RepeatedHeadTests {
    /// All of one length, so that the heads of one target are the same.
    static let bodies = [
        #"{"a":1}"#, #"{"a":2}"#, #"{"a":x}"#, "       ", #"{"a":3}"#, #"["a",1]"#, #" {"a":4"#,
        #"{"b":5}"#,
    ]

    static let targets = [
        "/v1/channels/a", "/v1/channels/a%62", "/v1/channels/a?object=o",
        "/v1/channels/a?object=o&style=asap&coalesce=name,sender", "/v1/channels/a?style=asap",
        "/v1/channels/a?style=now&coalesce=name", "/v1/channels/a?report=observers",
        "/v1/channels/a?style=never", "/v1/channels/a?unknown=1", "/v1/channels/belfry.a",
        "/v1/centers/other/channels/a?object=o",
        "/v1/channels/a?causedBy=01J00000000000000000000000", "/v1/responders/a/go",
        "/v1/responders/a/go?default=1", "/v1/responders/a/belfry.go?default=1",
        "/v1/responders/a/go?ttl=5", "/v1/centers/other/responders/a/go?default=null",
    ]

    struct Told: Equatable {
        var answers: [String] = []
        var deliveries: [String] = []
    }

    /// Posts all bodies to a target; with something between them no head is the one before.
    private func post(to target: String, loopCount: Int, isFresh: Bool) throws -> Told {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe("a")
        let poster = try broker.http(loop: loopCount - 1)
        var told = Told()
        for body in Self.bodies {
            let response = try poster.request("POST", target, body)
            let json = response.json
            told.answers.append(
                "\(response.status) \(response.problem ?? "") \(json["seq"]) \(json["matched"]) "
                    + "\(json["outcome"]) \(json["observers"] == .null) "
                    + "\(response.field("location") == nil)")
            if isFresh { #expect(try poster.request("GET", "/livez").status == 200) }
        }
        for params in try socket.takeNotifications() {
            told.deliveries.append(
                "\(params["name"]) \(params["object"]) \(params["userInfo"]) \(params["seq"])")
        }
        return told
    }

    @Test(
        "they are answered and delivered as those whose heads do not", arguments: targets, [1, 2])
    func sameAnswers(target: String, loopCount: Int) throws {
        let fresh = try post(to: target, loopCount: loopCount, isFresh: true)
        let repeated = try post(to: target, loopCount: loopCount, isFresh: false)
        #expect(repeated == fresh)
        #expect(fresh.answers.count == Self.bodies.count)
    }
}
