import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Archives: observers that begin in the past (rules A7 to A14 and A18)")
struct JoinRuleTests {
    @Test(
        "A7, A11 (T311): all that is kept comes, then what is live, and no gap",
        arguments: Scene.all)
    func oldest(scene: Scene) throws {
        let stage = try Stage.archiving(scene)
        try stage.archive("a", #"{"count":3}"#)
        try stage.post("a", count: 5)
        let answer = try stage.register(stage.x, #""name":"a","since":"oldest""#)
        #expect(answer.json["since"] == 5)
        try stage.post("a", userInfo: #"{"n":6}"#)
        #expect(try stage.seen(by: stage.x) == ["3", "4", "5", "6 live"])
    }

    @Test("A9 (T312): a position below what was let go is a gap, once the ring has forgotten it")
    func gap() throws {
        let stage = try Stage.archiving() {
            $0.centerLimits.replayCountLimit = 1
        }
        try stage.archive("a", #"{"count":3}"#)
        try stage.post("a", count: 5)
        _ = try stage.register(stage.x, #""name":"a","since":1"#)
        #expect(try stage.seen(by: stage.x) == ["gap unknown 2 2", "3", "4", "5"])
        #expect(try stage.past("name=a&after=1").json["gaps"][0]["lastSeq"] == 2)
        #expect(try stage.past("name=a&after=2").json["gaps"].elements.isEmpty)
        #expect(try stage.past("name=a").json["gaps"].elements.isEmpty)
    }

    @Test("A9: what the replay ring still has is given, and is no gap")
    func ring() throws {
        let stage = try Stage.archiving()
        try stage.archive("a", #"{"count":3}"#)
        try stage.post("a", count: 5)
        _ = try stage.register(stage.x, #""name":"a","since":1"#)
        #expect(try stage.seen(by: stage.x) == ["2", "3", "4", "5"])
    }

    @Test("A9 (T313): what went of another kind is no gap")
    func otherKind() throws {
        let stage = try Stage.archiving() {
            $0.centerLimits.replayCountLimit = 1
        }
        try stage.archive("a", #"{"count":3}"#)
        try stage.archive("b", #"{"count":1}"#)
        try stage.post("a", count: 2)
        try stage.post("b", count: 2)
        _ = try stage.register(stage.x, #""name":"a","since":2"#)
        #expect(try stage.seen(by: stage.x).isEmpty)
        _ = try stage.register(stage.x, #""name":"b","since":2"#)
        #expect(try stage.seen(by: stage.x) == ["gap unknown 3 3", "2"])
    }

    @Test("A9: an archive that began later is a gap for the channel that was posted before")
    func beganLater() throws {
        let stage = try Stage.archiving() {
            $0.centerLimits.replayCountLimit = 1
        }
        try stage.post("a", count: 2)
        try stage.archive("a")
        try stage.archive("b")
        try stage.post("b", count: 1)
        try stage.post("a", userInfo: #"{"n":3}"#)
        _ = try stage.register(stage.x, #""name":"a","since":0"#)
        #expect(try stage.seen(by: stage.x) == ["gap unknown 1 2", "3"])
        _ = try stage.register(stage.x, #""name":"b","since":0"#)
        #expect(try stage.seen(by: stage.x) == ["1"])
    }

    @Test("A9: a time is a place, too; at or before what was let go it is a gap")
    func time() throws {
        let stage = try Stage.archiving() {
            $0.centerLimits.replayCountLimit = 1
        }
        try stage.archive("a", #"{"count":3}"#)
        var times: [String] = []
        for number in 1...4 {
            try stage.broker.advance(by: .seconds(10))
            try stage.post("a", userInfo: #"{"n":\#(number)}"#)
            let newest = try stage.past("name=a&last=1").json["notifications"][0]
            times.append(newest["postedAt"].text ?? "")
        }
        _ = try stage.register(stage.x, #""name":"a","since":"\#(times[2])""#)
        #expect(try stage.seen(by: stage.x) == ["3", "4"])
        _ = try stage.register(stage.x, #""name":"a","since":"\#(times[0])""#)
        #expect(try stage.seen(by: stage.x) == ["gap unknown 1 1", "2", "3", "4"])
        #expect(try stage.numbers("name=a&from=\(times[1])&until=\(times[3])") == [2, 3])
    }

    @Test("A8 (T320): what is posted during a replay is read in its turn, and nothing is held")
    func slow() throws {
        let stage = try Stage.archiving(Scene(door: .webSocket, loopCount: 1))
        try stage.archive("a")
        let text = String(repeating: "x", count: 1_000)
        for number in 1...2_000 {
            try stage.post("a", userInfo: #"{"n":\#(number),"s":"\#(text)"}"#)
        }
        stage.x.put(stage.x.call("addObserver", #"{"name":"a","since":"oldest"}"#))
        stage.x.peer.writeCapacity = 0
        try stage.broker.crank()
        var receipt = Value.null
        for number in 2_001...2_200 {
            receipt = try stage.post("a", userInfo: #"{"n":\#(number)}"#).json
        }
        #expect(receipt["matched"] == 1 && receipt["held"] == 1)
        #expect(try stage.observers()[0]["held"] == 0)
        #expect(try stage.observers()[0]["state"] == "slow")
        stage.x.peer.writeCapacity = .max
        try stage.broker.crank()
        let numbers = try stage.x.takeNotifications().compactMap { $0["userInfo"]["n"].int }
        #expect(numbers == Array(1...2_200))
        #expect(try stage.observers()[0]["state"] == "live")
    }

    @Test("A7, A8: two observers of a client begin at their own places, in one order")
    func two() throws {
        let stage = try Stage.archiving()
        try stage.archive("p", prefix: true)
        for number in 1...4 {
            try stage.post(number % 2 == 0 ? "pa" : "pb", userInfo: #"{"n":\#(number)}"#)
        }
        _ = try stage.x.result("setSuspended", #"{"suspended":true}"#)
        _ = try stage.register(stage.x, #""namePrefix":"p","since":2"#)
        _ = try stage.register(stage.x, #""name":"pa","since":0"#)
        try stage.post("pa", userInfo: #"{"n":5}"#)
        #expect(try stage.seen(by: stage.x).isEmpty)
        _ = try stage.x.result("setSuspended", #"{"suspended":false}"#)
        #expect(try stage.seen(by: stage.x) == ["2", "3", "4", "4", "5", "5"])
    }

    @Test("A8: what is not kept joins what is held, between what is read")
    func unkept() throws {
        let stage = try Stage.archiving()
        try stage.archive("a")
        try stage.post("a", count: 1)
        try stage.post("b", userInfo: #"{"n":2}"#)
        try stage.post("a", userInfo: #"{"n":3}"#)
        _ = try stage.x.result("setSuspended", #"{"suspended":true}"#)
        _ = try stage.register(stage.x, #""names":["a","b"],"since":0,"suspensionBehavior":"drop""#)
        try stage.post("b", userInfo: #"{"n":4}"#)
        try stage.post("a", userInfo: #"{"n":5}"#)
        _ = try stage.x.result("setSuspended", #"{"suspended":false}"#)
        #expect(try stage.seen(by: stage.x).map { $0.prefix(1) } == ["1", "2", "3", "4", "5"])
    }

    @Test("A10: resume goes on behind the number that came last, over ring and archive")
    func resume() throws {
        let stage = try Stage.archiving() {
            $0.centerLimits.replayCountLimit = 2
        }
        try stage.archive("a")
        _ = try stage.register(stage.x, #""name":"a","suspensionBehavior":"drop""#)
        try stage.post("a", count: 2)
        #expect(try stage.seen(by: stage.x) == ["1 live", "2 live"])
        let session = stage.x.session
        stage.x.peer.close()
        try stage.broker.crank()
        for number in 3...9 { try stage.post("a", userInfo: #"{"n":\#(number)}"#) }
        let peer = try stage.broker.webSocket()
        _ = try peer.result("resume", #"{"session":"\#(session)","after":2}"#)
        #expect(try stage.seen(by: peer) == ["3", "4", "5", "6", "7", "8", "9"])
        try stage.post("a", userInfo: #"{"n":10}"#)
        #expect(try stage.seen(by: peer) == ["10 live"])
    }

    @Test("A10: an event stream goes on behind its last event; the URL may say where it begins")
    func eventStreams() throws {
        let stage = try Stage.archiving() {
            $0.centerLimits.replayCountLimit = 1
        }
        try stage.archive("a")
        try stage.post("a", count: 5)
        func numbers(_ target: String, fields: [String] = []) throws -> [Int] {
            Stage.numbers(
                try stage.broker.events(target, fields: fields).takeEvents().map { $0.data })
        }
        let epoch = try stage.past("name=a").json["epoch"].text ?? ""
        #expect(try numbers("/v1/events?name=a&last=2") == [4, 5])
        #expect(try numbers("/v1/events?name=a&since=oldest") == [1, 2, 3, 4, 5])
        #expect(try numbers("/v1/events?name=a&since=3") == [4, 5])
        #expect(
            try numbers("/v1/events?name=a&last=2", fields: ["Last-Event-ID: \(epoch)-1"])
                == [2, 3, 4, 5])
        #expect(try stage.broker.get("/v1/events?name=a&last=2&since=1").status == 422)
    }

    @Test("A12 (T322): last counts what matches, the condition included", arguments: Scene.all)
    func last(scene: Scene) throws {
        let stage = try Stage.archiving(scene)
        try stage.archive("a")
        try stage.post("a", count: 10)
        let even = #"{"n":[2,4,6,8,10]}"#
        _ = try stage.register(stage.x, #""name":"a","where":\#(even),"last":2"#)
        #expect(try stage.seen(by: stage.x) == ["8", "10"])
        #expect(try stage.numbers("name=a&last=2&where=%7B%22n%22:%5B1,2%5D%7D") == [1, 2])
        for members in [#""last":0"#, #""last":1001"#, #""last":1,"since":0"#] {
            #expect(try stage.register(stage.x, #""name":"a",\#(members)"#).place == "#/last")
        }
    }

    @Test("A12 (T321): lastEach is the newest of each name and object", arguments: Scene.all)
    func lastEach(scene: Scene) throws {
        let stage = try Stage.archiving(scene)
        try stage.archive("a")
        for (number, object) in ["o1", "o2", "o1"].enumerated() {
            try stage.post("a", object, userInfo: #"{"n":\#(number + 1)}"#)
        }
        try stage.post("a", userInfo: #"{"n":4}"#)
        _ = try stage.register(stage.x, #""name":"a","lastEach":1"#)
        #expect(try stage.seen(by: stage.x) == ["2", "3", "4"])
        #expect(try stage.numbers("name=a&lastEach=1") == [2, 3, 4])
        #expect(try stage.numbers("name=a&lastEach=1&order=newest") == [4, 3, 2])
        let answer = try stage.register(stage.x, #""name":"a","lastEach":101"#)
        #expect(answer.place == "#/lastEach")
    }

    @Test("A13: a mailbox gets the newest as far as its limits go; the rest is a gap")
    func mailbox() throws {
        let stage = try Stage.archiving() {
            $0.centerLimits.clientHeldCountLimit = 3
        }
        try stage.archive("a")
        try stage.post("a", count: 5)
        func open(_ members: String) throws -> Value {
            let answer = try stage.broker.post(
                #"{"name":"a",\#(members)}"#, target: "/v1/observers")
            return try stage.broker.get(
                "/v1/observers/\(answer.json["token"].text ?? "")/notifications"
            ).json
        }
        let page = try open(#""since":1"#)
        #expect(Stage.numbers(page["notifications"].elements) == [3, 4, 5])
        #expect(page["gaps"][0]["reason"] == "overflow" && page["gaps"][0]["firstSeq"] == 2)
        #expect(page["gaps"][0]["lastSeq"] == 2)
        let two = try open(#""last":2"#)
        #expect(Stage.numbers(two["notifications"].elements) == [4, 5])
        #expect(two["gaps"].elements.isEmpty)
        #expect(Stage.numbers(try open(#""lastEach":1"#)["notifications"].elements) == [5])
    }

    @Test("A14 (T323): rows that are not covered are not there, and no gap tells of them")
    func access() async throws {
        let some = #"[{"verbs":["observe"],"names":["pa"]}]"#
        let all = #"[{"verbs":["post","observe","admin","inspect"]}]"#
        let broker = try await AccessTests.broker(["some": some, "all": all])
        func ask(_ method: String, _ target: String, _ body: String? = nil, as key: String) throws
            -> Response
        {
            try broker.request(
                method, target, body,
                fields: ["Content-Type: application/json", Keys.field(key)])
        }
        #expect(
            try ask("PUT", "/v1/archives/p?prefix=true", #"{"count":1}"#, as: "all").status == 201)
        for name in ["pa", "pb", "pb"] {
            _ = try ask("POST", "/v1/channels/\(name)", #"{"n":1}"#, as: "all")
        }
        let page = try ask("GET", "/v1/notifications?namePrefix=p&after=0", as: "some").json
        #expect(page["notifications"].elements.compactMap { $0["name"].text } == ["pa"])
        #expect(page["gaps"].elements.isEmpty)
        #expect(try ask("GET", "/v1/notifications?name=pb", as: "some").status == 403)
        #expect(try ask("GET", "/v1/archives/p?prefix=true", as: "some").status == 404)
        #expect(try ask("PUT", "/v1/archives/pa", "{}", as: "some").status == 403)
        #expect(try ask("DELETE", "/v1/notifications?name=pa", as: "some").status == 403)
    }

    @Test("A18: a page has its limits, and the next one goes on behind it")
    func pages() throws {
        let stage = try Stage.archiving()
        try stage.archive("a")
        try stage.post("a", count: 7)
        var after = 0
        var numbers: [[Int]] = []
        while true {
            let page = try stage.past("name=a&limit=3&after=\(after)").json
            numbers.append(Stage.numbers(page["notifications"].elements))
            guard let next = page["next"].int else { break }
            after = next
        }
        #expect(numbers == [[1, 2, 3], [4, 5, 6], [7]])
        let newest = try stage.past("name=a&order=newest&limit=3&before=6").json
        #expect(Stage.numbers(newest["notifications"].elements) == [5, 4, 3])
        #expect(newest["next"] == 3)
        #expect(try stage.past("name=a&limit=7").json["next"].int == nil)
        for query in ["", "name=a&namePrefix=b", "name=a&limit=1001", "name=a&last=1&lastEach=1"] {
            #expect(try stage.past(query).status == 422, "\(query)")
        }
    }
}
