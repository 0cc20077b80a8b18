import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Archives: what is kept (rules A1 to A6 and A15 to A17)")
struct ArchiveRuleTests {
    @Test("A1 (T315): a channel is kept by the archive of its name, else by the longest prefix")
    func longest() throws {
        let stage = try Stage.archiving()
        try stage.archive("p.", prefix: true)
        try stage.archive("p.x", #"{"count":1}"#)
        try stage.archive("p.xy", #"{"count":2}"#, prefix: true)
        try stage.post("p.x", count: 2)
        try stage.post("p.y", count: 2)
        try stage.post("p.xyz", count: 3)
        #expect(try stage.numbers("name=p.x") == [2])
        #expect(try stage.numbers("name=p.y") == [1, 2])
        #expect(try stage.numbers("name=p.xyz") == [2, 3])
        #expect(try stage.numbers("namePrefix=p.") == [2, 1, 2, 2, 3])
    }

    @Test("A1: a notification that is kept stays where it is, whatever changes later")
    func once() throws {
        let stage = try Stage.archiving()
        try stage.archive("p.", prefix: true)
        try stage.post("p.x", count: 2)
        try stage.archive("p.x", #"{"count":1}"#)
        try stage.post("p.x", count: 2)
        #expect(try stage.numbers("name=p.x") == [1, 2, 2])
        #expect(try stage.broker.get("/v1/archives/p.x").json["kept"] == 1)
        #expect(try stage.broker.get("/v1/archives/p.?prefix=true").json["kept"] == 2)
        // A join has no hole between both, though the first of the newer archive went.
        _ = try stage.register(stage.x, #""name":"p.x","since":1"#)
        #expect(try stage.seen(by: stage.x) == ["2", "1", "2"])
    }

    @Test(
        "A2, A3 (T310): the newest are kept, observed or not; the receipt says so",
        arguments: Scene.all)
    func counts(scene: Scene) throws {
        let stage = try Stage.archiving(scene)
        #expect(try stage.archive("a", #"{"count":3}"#).status == 201)
        let receipts = try stage.post("a", count: 5)
        #expect(receipts.allSatisfy { $0.json["kept"] == true && $0.json["matched"] == 0 })
        let page = try stage.past("name=a").json
        #expect(Stage.numbers(page["notifications"].elements) == [3, 4, 5])
        #expect(page["gaps"].elements.isEmpty)
        #expect(!page["next"].has("x") && page["seq"] == receipts[4].json["seq"])
        let unmatched = try stage.broker.get("/v1/reports/unmatched").json
        #expect(unmatched["postedNeverObserved"][0]["name"] == "a")
        #expect(try stage.post("b").json.has("kept") == false)
    }

    @Test("A3, A1 (T314): a count holds for each object, where the archive tells them apart")
    func objects() throws {
        let stage = try Stage.archiving()
        try stage.archive("p.", #"{"count":2,"each":"object"}"#, prefix: true)
        try stage.post("p.x", "o", count: 3)
        try stage.post("p.x", "q", count: 1)
        try stage.post("p.x", count: 3)
        #expect(try stage.numbers("namePrefix=p.") == [2, 3, 1, 2, 3])
        #expect(try stage.numbers("name=p.x&object=o") == [2, 3])
        #expect(try stage.numbers("name=p.x&objectPrefix=q") == [1])
    }

    @Test("A3: past the bytes the oldest of the archive goes; one that is larger is not kept")
    func bytes() throws {
        let stage = try Stage.archiving()
        try stage.archive("p.", #"{"bytes":4096}"#, prefix: true)
        let text = String(repeating: "x", count: 1_500)
        for number in 1...4 {
            try stage.post("p.\(number)", userInfo: #"{"n":\#(number),"s":"\#(text)"}"#)
        }
        #expect(try stage.numbers("namePrefix=p.") == [3, 4])
        let large = String(repeating: "x", count: 4_096)
        let receipt = try stage.post("p.4", userInfo: #"{"n":5,"s":"\#(large)"}"#)
        #expect(receipt.status == 200 && !receipt.json.has("kept"))
        #expect(try stage.numbers("namePrefix=p.") == [3, 4])
        let row = try stage.broker.get("/v1/archives/p.?prefix=true").json
        #expect(row["kept"] == 2 && (row["keptBytes"].int ?? 0) > 3_000)
    }

    @Test("A3, A6 (T316): past its age a notification is not shown, but for the newest of its kind")
    func age() throws {
        let stage = try Stage.archiving()
        try stage.archive("a", #"{"age":1,"keepLast":1}"#)
        try stage.archive("b", #"{"age":1}"#)
        try stage.post("a", count: 2)
        try stage.post("b", count: 2)
        try stage.broker.advance(by: .seconds(2))
        #expect(try stage.numbers("name=a") == [2])
        #expect(try stage.numbers("name=b") == [])
        try stage.post("a", userInfo: #"{"n":3}"#)
        #expect(try stage.numbers("name=a") == [3])
        _ = try stage.register(stage.x, #""namePrefix":"b","since":"oldest""#)
        #expect(try stage.seen(by: stage.x).isEmpty)
    }

    @Test("A4 (T317): the ttl of a post ends its stay, too")
    func timeToLive() throws {
        let stage = try Stage.archiving()
        try stage.archive("a")
        let ttl = try stage.broker.post(
            #"{"name":"a","userInfo":{"n":1},"ttl":1}"#, loop: stage.postLoop)
        #expect(ttl.json["kept"] == true)
        try stage.post("a", userInfo: #"{"n":2}"#)
        #expect(try stage.numbers("name=a") == [1, 2])
        try stage.broker.advance(by: .seconds(2))
        #expect(try stage.numbers("name=a") == [2])
        // Its poster said so: it is no loss.
        _ = try stage.register(stage.x, #""name":"a","since":0"#)
        #expect(try stage.seen(by: stage.x) == ["2"])
    }

    @Test("A5 (T325): room is reserved when an archive is made; without room posts go on")
    func room() throws {
        let stage = try Stage.archiving() {
            $0.centerLimits.archiveLimit = 2
            $0.centerLimits.archiveByteLimit = 8_192
        }
        #expect(try stage.archive("a", #"{"bytes":4096}"#).status == 201)
        #expect(try stage.archive("b", #"{"bytes":4097}"#).status == 503)
        let full = try stage.archive("b", #"{"bytes":4097}"#).json
        #expect(full["type"].text?.hasSuffix("/archive-full") == true && full["limit"] == 8_192)
        #expect(try stage.archive("a", #"{"bytes":8193}"#).status == 422)
        #expect(try stage.archive("b", #"{"bytes":4096}"#).status == 201)
        #expect(try stage.archive("b", #"{"bytes":4096,"count":1}"#).status == 200)
        #expect(try stage.broker.request("DELETE", "/v1/archives/a").status == 204)
        #expect(try stage.archive("c", #"{"bytes":4096}"#).status == 201)
        #expect(try stage.archive("d", #"{"bytes":4096}"#).status == 503)
        #expect(try stage.post("d").status == 200)
    }

    @Test("A5: without a store nothing can be stored; with limits of memory the broker says so")
    func noStore() throws {
        let stage = try Stage.archiving() {
            $0.memory.archives = 16 << 20
        }
        let stored = try stage.archive("a", #"{"stored":true}"#)
        #expect(stored.status == 422 && stored.json["errors"][0]["pointer"] == "#/stored")
        #expect(try stage.archive("a", #"{"bytes":8388608}"#).json["stored"] == false)
        #expect(try stage.archive("b", #"{"bytes":8388608}"#).status == 503)
        #expect(try stage.archive("a", #"{"bytes":4096}"#).status == 200)
        #expect(try stage.archive("b", #"{"bytes":4194304}"#).status == 201)
    }

    @Test("A3: each field has its values, and a fault its pointer")
    func faults() throws {
        let stage = try Stage.archiving()
        let bad = [
            (#"{"count":0}"#, "#/count"), (#"{"count":1000001}"#, "#/count"),
            (#"{"age":0.5}"#, "#/age"), (#"{"age":31622401}"#, "#/age"),
            (#"{"bytes":4095}"#, "#/bytes"), (#"{"each":"day"}"#, "#/each"),
            (#"{"keepLast":1001,"age":1}"#, "#/keepLast"), (#"{"keepLast":1}"#, "#/keepLast"),
            (#"{"stored":1}"#, "#/stored"), (#"{"name":"a"}"#, "#/name"),
        ]
        for (terms, pointer) in bad {
            let answer = try stage.archive("a", terms)
            #expect(
                answer.status == 422 && answer.json["errors"][0]["pointer"].text == pointer,
                "\(terms): \(answer.json)")
        }
        #expect(try stage.archive("a?prefix=yes").status == 422)
        #expect(try stage.broker.get("/v1/archives").json["archives"].elements.isEmpty)
        let whole =
            #"{"count":1000000,"age":31622400,"bytes":4096,"each":"object","keepLast":1000}"#
        #expect(try stage.archive("a", whole).status == 201)
        #expect(try stage.broker.get("/v1/archives/a").json["age"] == 31_622_400)
    }

    @Test("A15: reserved channels are kept by an archive that names them alone")
    func reserved() throws {
        let stage = try Stage.archiving()
        try stage.archive("b", prefix: true)
        try stage.archive("belfry.client.", prefix: true)
        let peer = try stage.broker.webSocket()
        peer.peer.close()
        try stage.broker.crank()
        let page = try stage.past("namePrefix=belfry.client.").json["notifications"].elements
        #expect(page.compactMap { $0["name"].text }.contains("belfry.client.connected"))
        #expect(try stage.past("namePrefix=b").json["notifications"].elements.isEmpty)
    }

    @Test("A16 (T324): what was removed is gone, and is a gap for whoever lacks it")
    func removal() throws {
        let stage = try Stage.archiving()
        try stage.archive("a")
        let first = try stage.post("a", count: 2)[0]
        _ = try stage.register(stage.y, #""name":"a","suspensionBehavior":"hold""#)
        _ = try stage.y.result("setSuspended", #"{"suspended":true}"#)
        let third = try stage.post("a", userInfo: #"{"n":3}"#)
        func forget(_ query: String) throws -> Response {
            try stage.broker.request("DELETE", "/v1/notifications?\(query)", loop: stage.postLoop)
        }
        #expect(try forget("object=x").status == 422)
        #expect(try forget("name=a&id=\(first.json["id"].text ?? "")").json["removed"] == 1)
        #expect(try forget("name=a&after=2").json["removed"] == 1)
        #expect(try stage.numbers("name=a") == [2])
        _ = try stage.register(stage.x, #""name":"a","since":0"#)
        let last = third.json["seq"].int ?? 0
        #expect(try stage.seen(by: stage.x) == ["gap unknown 1 \(last)", "2"])
        _ = try stage.y.result("setSuspended", #"{"suspended":false}"#)
        #expect(try stage.seen(by: stage.y) == ["gap unknown \(last) \(last)"])
        #expect(try stage.broker.request("DELETE", "/v1/archives/a").status == 204)
        #expect(try stage.broker.request("DELETE", "/v1/archives/a").status == 404)
        #expect(try stage.past("name=a").status == 404)
    }

    @Test("A17: changes of values and asks are not kept")
    func values() throws {
        let stage = try Stage.archiving()
        try stage.archive("belfry.", prefix: true)
        let answer = try stage.broker.request(
            "PUT", "/v1/values/o", #"{"v":1}"#, fields: ["Content-Type: application/json"])
        #expect(answer.status < 300)
        let page = try stage.past("namePrefix=belfry.").json["notifications"].elements
        #expect(!page.contains { $0["name"].text?.contains("value") == true })
    }
}
