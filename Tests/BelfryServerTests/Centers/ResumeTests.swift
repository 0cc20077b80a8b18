import BelfryCenter
import BelfryLoop
import BelfryWire
import Testing

@testable import BelfryServer

@Suite("resume: a client goes on over another connection (Protocol.md section 6)")
struct ResumeTests {
    @Test(
        "first the result, then the gaps, then what was held, then what is new", arguments: [1, 2])
    func order(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let x = try broker.webSocket(loop: loopCount - 1)
        try x.result("addObserver", #"{"name":"h","suspensionBehavior":"hold","holdLimit":2}"#)
        try x.cut()
        for _ in 0..<3 { try broker.post(name: "h") }
        let back = try broker.webSocket(loop: loopCount - 1)
        back.put(back.call("resume", #"{"session":"\#(x.session)"}"#))
        try broker.crank()
        try broker.post(name: "h")
        let messages = try back.takeMessages()
        #expect(messages.count == 5)
        #expect(messages[0]["result"]["client"].text == x.client)
        #expect(messages[0]["result"]["held"] == 2)
        #expect(messages[0]["result"]["observers"][0]["id"] == "o1")
        #expect(messages[1]["method"] == "belfry.gap")
        #expect(messages[1]["params"]["reason"] == "overflow")
        #expect(messages[2...].map { $0["params"]["seq"] } == [2, 3, 4])
    }

    @Test("after asks the replay ring for what came later and is not held", arguments: [1, 2])
    func after(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let x = try broker.webSocket(loop: loopCount - 1)
        try x.result("addObserver", #"{"name":"a","suspensionBehavior":"drop"}"#)
        for _ in 0..<3 { try broker.post(name: "a") }
        #expect(try x.takeNames().count == 3)
        try x.cut()
        try broker.post(name: "a")
        let back = try broker.webSocket(loop: loopCount - 1)
        let epoch = back.welcome["epoch"].text ?? ""
        try back.result("resume", #"{"session":"\#(x.session)","after":2,"epoch":"\#(epoch)"}"#)
        #expect(try back.takeGaps() == [])
        let notifications = try back.takeNotifications()
        #expect(notifications.map { $0["seq"] } == [3, 4])
        #expect(notifications.allSatisfy { $0["redelivered"] == true })
    }

    @Test("a position of another life of the center is answered with a gap")
    func foreignEpoch() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.observe("a")
        try x.cut()
        try broker.post(name: "a")
        let back = try broker.webSocket()
        try back.result(
            "resume", #"{"session":"\#(x.session)","after":900,"epoch":"0123456789ab"}"#)
        #expect(try back.takeGaps() == ["unknown ?"])
        #expect(try back.takeNames() == ["a"])
    }

    @Test(
        "the client of the welcome disappears, and later calls are those of the other",
        arguments: [1, 2])
    func newClient(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let x = try broker.webSocket(loop: loopCount - 1)
        try x.observe("a")
        try x.cut()
        let back = try broker.webSocket(loop: loopCount - 1)
        back.put(back.call("resume", #"{"session":"\#(x.session)"}"#))
        back.put(back.call("addObserver", #"{"name":"b"}"#))
        try broker.crank()
        let registered = try back.takeAnswer(2)
        #expect(registered?["result"]["client"].text == x.client)
        #expect(registered?["result"]["session"].text == x.session)
        let clients = try broker.get("/v1/clients").json["clients"].elements
        #expect(clients.map { $0["id"].text } == [x.client])
        #expect(try back.result("removeObserver", #"{"name":"a"}"#) == ["removed": 1])
        let body = #"{"name":"c","session":"\#(back.session)"}"#
        #expect(try broker.post(body, target: "/v1/observers").status == 404)
    }

    @Test("an unknown session, a wrong secret and another center are not found", arguments: [1, 2])
    func unknown(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let x = try broker.webSocket(loop: loopCount - 1)
        try x.observe("a")
        let back = try broker.webSocket(loop: loopCount - 1)
        for session in ["c999.AAAAAAAAAAAAAAAAAAAAAA", "\(x.client).AAAAAAAAAAAAAAAAAAAAAA"] {
            let problem = try back.problem("resume", #"{"session":"\#(session)"}"#)
            #expect(problem["status"] == 404)
        }
        let elsewhere = try broker.webSocket("/v1/centers/other/ws", loop: loopCount - 1)
        let problem = try elsewhere.problem("resume", #"{"session":"\#(x.session)"}"#)
        #expect(problem["status"] == 404)
        #expect(try back.problem("resume", #"{"session":"x"}"#)["status"] == 422)
        #expect(try back.problem("resume", "{}")["status"] == 422)
        try broker.post(name: "a")
        #expect(try x.takeNames() == ["a"])
    }

    @Test("a resume comes before any registration")
    func tooLate() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.observe("a")
        let back = try broker.webSocket()
        try back.observe("b")
        let problem = try back.problem("resume", #"{"session":"\#(x.session)"}"#)
        #expect(problem["type"].text == "https://belfry.dev/problems/resume-too-late")
        #expect(
            try x.problem("resume", #"{"session":"\#(x.session)"}"#)["status"] == 409)
    }

    @Test("a resume stands alone in its frame")
    func inBatch() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.result("addObserver", #"{"name":"h","suspensionBehavior":"hold"}"#)
        try x.cut()
        try broker.post(name: "h")
        let back = try broker.webSocket()
        let resume = back.call("resume", #"{"session":"\#(x.session)"}"#)
        try back.send("[\(resume),\(back.call("observers", "{}"))]")
        let refused = try back.takeMessages()
        #expect(refused[0][0]["error"]["data"]["status"] == 422)
        try back.send("[\(resume)]")
        let messages = try back.takeMessages()
        #expect(messages[0][0]["result"]["held"] == 1)
        #expect(messages[1]["params"]["name"] == "h")
    }

    @Test("a mailbox is read, and not resumed")
    func mailbox() throws {
        let broker = try Broker()
        let box = try broker.post(#"{"name":"a"}"#, target: "/v1/observers").json
        let socket = try broker.webSocket()
        let problem = try socket.problem("resume", #"{"session":"\#(box["session"].text ?? "")"}"#)
        #expect(problem["type"].text == "https://belfry.dev/problems/no-mailbox")
    }

    @Test("a client that holds much gets it in steps, and nothing overtakes it", arguments: [1, 2])
    func steps(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) { $0.centerLimits.flushByteLimit = 20_000 }
        let x = try broker.webSocket(loop: loopCount - 1)
        try x.result("addObserver", #"{"name":"h","suspensionBehavior":"hold"}"#)
        try x.cut()
        let padding = String(repeating: "x", count: 5_000)
        for k in 1...30 {
            _ = try broker.request("POST", "/v1/channels/h", #"{"k":\#(k),"p":"\#(padding)"}"#)
        }
        let back = try broker.webSocket(loop: loopCount - 1)
        back.put(back.call("resume", #"{"session":"\#(x.session)"}"#))
        back.put(back.call("post", #"{"name":"h","userInfo":{"k":31}}"#))
        try broker.crank()
        #expect(try back.takeKeys() == (1...31).map { "h\($0)" })
    }
}
