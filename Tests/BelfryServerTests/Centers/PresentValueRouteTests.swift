import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("A present value borrows its number (Protocol.md section 15)")
struct PresentValueRouteTests {
    /// A broker in which a present value waits with the number of the last post.
    private static func waiting(_ loopCount: Int) throws -> Broker {
        let broker = try Broker(loopCount: loopCount)
        _ = try broker.request("PUT", "/v1/values/secret/pin", "1234")
        #expect(try broker.post(name: "news")["seq"] == 2)
        let mailbox = try broker.post(
            #"{"object":"secret","keyPath":"pin"}"#, target: "/v1/observers")
        #expect(mailbox.status == 201)
        return broker
    }

    @Test(
        "C1, V13: who asks for what was posted since has that, over each transport, and no value",
        arguments: [1, 2])
    func since(loopCount: Int) throws {
        let broker = try Self.waiting(loopCount)
        let reader = try broker.post(#"{"name":"news","since":0}"#, target: "/v1/observers")
        let token = try #require(reader.json["token"].text)
        let page = try broker.get("/v1/observers/\(token)/notifications").json
        #expect(page["notifications"].elements.map { $0["name"] } == ["news"])
        #expect(page["notifications"].elements.map { $0["seq"] } == [2])
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.result("addObserver", #"{"name":"news","since":0}"#)
        #expect(try socket.takeNames() == ["news"])
        let epoch = socket.welcome["epoch"].text ?? ""
        let stream = try broker.events(
            "/v1/events?name=news&last_event_id=\(epoch)-1", loop: loopCount - 1)
        #expect(try stream.takeNames() == ["news"])
    }

    @Test(
        "C1, V13: who resumes has what was posted, and no value that waits for somebody else",
        arguments: [1, 2])
    func resumed(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe("news")
        _ = try broker.request("PUT", "/v1/values/secret/pin", "1234")
        try broker.post(name: "news")
        try socket.cut()
        let mailbox = try broker.post(
            #"{"object":"secret","keyPath":"pin"}"#, target: "/v1/observers")
        #expect(mailbox.status == 201)
        let back = try broker.webSocket(loop: loopCount - 1)
        let epoch = back.welcome["epoch"].text ?? ""
        let position = #""session":"\#(socket.session)","after":1,"epoch":"\#(epoch)""#
        try back.result("resume", "{\(position)}")
        let told = try back.takeNotifications()
        #expect(told.map { $0["name"] } == ["news"] && told.map { $0["seq"] } == [2])
    }

    @Test("V6: a present value that the line may have lost comes again", arguments: [1, 2])
    func lost(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        _ = try broker.request("PUT", "/v1/values/o/v", "1")
        let socket = try broker.webSocket(loop: loopCount - 1)
        let row = try socket.result("addObserver", #"{"object":"o","keyPath":"v"}"#)
        #expect(row["since"] == 1)
        // Frames that the line has lost are not read.
        try socket.cut()
        let back = try broker.webSocket(loop: loopCount - 1)
        let epoch = back.welcome["epoch"].text ?? ""
        let position = #""session":"\#(socket.session)","after":1,"epoch":"\#(epoch)""#
        try back.result("resume", "{\(position)}")
        let told = try back.takeNotifications()
        #expect(told.map { $0["change"]["new"] } == [1] && told[0]["redelivered"] == true)
    }

    @Test("V6: the first look into a mailbox has the present value", arguments: [1, 2])
    func firstLook(loopCount: Int) throws {
        for posts in 0...1 {
            for query in ["", "?after=\(posts)"] {
                let broker = try Broker(loopCount: loopCount)
                for _ in 0..<posts { try broker.post(name: "n") }
                let made = try broker.post(
                    #"{"object":"v","keyPath":"a"}"#, target: "/v1/observers")
                let path = "/v1/observers/\(made.json["token"].text ?? "")/notifications"
                let page = try broker.get(path + query).json
                #expect(page["notifications"].elements.count == 1, "\(posts) \(query)")
                #expect(page["notifications"][0]["change"]["initial"] == true)
                let next = page["next"].int ?? -1
                #expect(
                    try broker.get(path + "?after=\(next)").json["notifications"].elements.isEmpty)
            }
        }
    }

    @Test("V10: a stream that comes back is told nothing of a sister", arguments: [1, 2])
    func sister(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        _ = try broker.request("PUT", "/v1/values/s/a", "1")
        let first = try broker.events("/v1/events?object=s&keyPath=a", loop: loopCount - 1)
        #expect(try first.takeEvents().count == 1)
        first.peer.close()
        try broker.crank()
        _ = try broker.request("PUT", "/v1/values/s/b", "1")
        let fields = ["Last-Event-ID: \(first.lastID)"]
        let second = try broker.events(
            "/v1/events?object=s&keyPath=a", loop: loopCount - 1, fields: fields)
        #expect(try second.takeEvents().isEmpty)
        second.peer.close()
        try broker.crank()
        _ = try broker.request("PUT", "/v1/values/s/a", "2")
        let third = try broker.events(
            "/v1/events?object=s&keyPath=a", loop: loopCount - 1, fields: fields)
        #expect(try third.takeEvents().map { $0.data["change"]["new"] } == [2])
    }
}
