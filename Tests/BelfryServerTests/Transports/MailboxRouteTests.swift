import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Mailboxes (Protocol.md section 9)")
struct MailboxRouteTests {
    @Test("registering without a session makes a mailbox with its own terms", arguments: [1, 2])
    func registration(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let body = #"{"name":"a","object":"o"}"#
        let response = try broker.post(
            body, target: "/v1/centers/default/observers", loop: loopCount - 1)
        #expect(response.status == 201)
        let row = response.json
        let token = row["token"].text ?? ""
        #expect(response.field("location") == "/v1/centers/default/observers/\(token)")
        #expect(response.field("cache-control") == "no-store")
        #expect(response.field("referrer-policy") == "no-referrer")
        #expect(row["suspensionBehavior"] == "hold")
        #expect(row["lease"] == 86_400)
        #expect(row["lifetime"] == "token")
        #expect(row["session"].text?.hasPrefix("c") == true)
        let clients = try broker.get("/v1/clients").json["clients"].elements
        #expect(clients.map { $0["transport"] } == ["mailbox"])
        #expect(clients.map { $0["state"] } == ["disconnected"])
    }

    @Test(
        "what a mailbox cannot have is 422",
        arguments: [
            (#""acknowledge":true"#, "#/acknowledge"), (#""lifetime":"connection""#, "#/lifetime"),
        ])
    func unfit(members: String, place: String) throws {
        let broker = try Broker()
        let alone = try broker.post("{\(members)}", target: "/v1/observers")
        #expect(alone.place == place)
        let session = try MailboxPeer(broker).row["session"].text ?? ""
        let more = try broker.post(
            #"{\#(members),"session":"\#(session)"}"#, target: "/v1/observers")
        #expect(more.status == 422)
        #expect(more.place == place)
    }

    @Test("reading shows, and the next reading acknowledges", arguments: [1, 2])
    func reading(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let empty = try box.read()
        #expect(empty.json == ["notifications": [], "gaps": [], "next": 0])
        #expect(empty.field("cache-control") == "no-store")
        #expect(try broker.post(name: "a")["held"] == 1)
        try broker.post(name: "b")
        let receipt = try broker.post(name: "a")
        for _ in 0..<2 {
            let page = try box.read().json
            #expect(page["notifications"].elements.map { $0["seq"] } == [1, 3])
            #expect(page["notifications"][0]["observer"] == box.row["id"])
            #expect(page["next"] == 3)
        }
        let first = try box.read("?limit=1").json
        #expect(first["notifications"].elements.map { $0["seq"] } == [1])
        #expect(first["next"] == 1)
        #expect(try box.read("?after=1").json["notifications"].elements.map { $0["seq"] } == [3])
        #expect(try box.read("?after=0").json["notifications"].elements.map { $0["seq"] } == [3])
        #expect(try box.read("?after=3").json == ["notifications": [], "gaps": [], "next": 3])
        let fate = try broker.get("/v1/notifications/\(receipt["id"].text ?? "")").json
        #expect(fate["receipt"]["delivered"] == 1)
        #expect(fate["receipt"]["held"] == 0)
    }

    @Test("a number above all others acknowledges nothing that is still to come")
    func farAhead() throws {
        let broker = try Broker()
        let box = try MailboxPeer(broker)
        try broker.post(name: "a")
        let page = try box.read("?after=9007199254740991").json
        #expect(page["next"] == 1)
        try broker.post(name: "a")
        let next = try box.read("?after=1").json
        #expect(next["notifications"].elements.map { $0["seq"] } == [2])
    }

    @Test(
        "the token alone is enough, in the path or in its field, and nothing less is",
        arguments: [1, 2])
    func access(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) {
            $0.anonymousGrants = Grants([Grant([.observe])])
        }
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        #expect(try box.read().status == 200)
        let id = box.row["id"].text ?? ""
        let path = "/v1/observers/\(id)/notifications"
        #expect(try broker.get(path, fields: ["Belfry-Token: \(box.token)"]).status == 200)
        let secret = box.token.split(separator: ".")[1]
        #expect(try broker.get(path, fields: ["Belfry-Token: \(secret)"]).status == 200)
        #expect(try broker.get(path).problem == "not-found")
        #expect(try broker.get(path, fields: ["Belfry-Token: x"]).problem == "not-found")
        let wrong = "/v1/observers/\(id).AAAAAAAAAAAAAAAAAAAAAA/notifications"
        #expect(try broker.get(wrong).problem == "not-found")
        #expect(try broker.get("/v1/observers/o99.AAAA/notifications").problem == "not-found")
        let elsewhere = "/v1/centers/other/observers/\(box.token)/notifications"
        #expect(try broker.get(elsewhere).problem == "not-found")
        #expect(try broker.request("DELETE", "/v1/observers/\(box.token)").status == 204)
        #expect(try box.read().problem == "observer-removed")
        let socket = try broker.webSocket()
        let token = try socket.observe("a")["token"].text ?? ""
        #expect(try broker.get("/v1/observers/\(token)/notifications").problem == "no-mailbox")
    }

    @Test(
        "parameters are checked",
        arguments: [
            ("after=-1", "after"), ("after=x", "after"), ("after=9007199254740992", "after"),
            ("limit=0", "limit"), ("limit=1001", "limit"), ("since=1", "since"),
            ("after=1&after=2", "after"),
        ])
    func parameters(query: String, parameter: String) throws {
        let box = try MailboxPeer(try Broker())
        let response = try box.read("?\(query)")
        #expect(response.problem == "invalid-fields")
        #expect(response.json["errors"][0]["parameter"].text == parameter)
    }

    @Test("past the hold limit the oldest goes, and the gap is shown until it is read")
    func gaps() throws {
        let broker = try Broker()
        let box = try MailboxPeer(broker, #""name":"a","holdLimit":2"#)
        for _ in 0..<3 { try broker.post(name: "a") }
        for _ in 0..<2 {
            let page = try box.read().json
            #expect(page["notifications"].elements.map { $0["seq"] } == [2, 3])
            #expect(page["gaps"][0]["reason"] == "overflow")
            #expect(page["gaps"][0]["lost"] == 1)
        }
        #expect(try box.read("?after=3").json["gaps"] == [])
    }

    @Test("more observers of one mailbox are added with its session")
    func session() throws {
        let broker = try Broker()
        let box = try MailboxPeer(broker)
        let body = #"{"name":"b","session":"\#(box.row["session"].text ?? "")"}"#
        let second = try broker.post(body, target: "/v1/observers").json
        #expect(second["client"] == box.row["client"])
        try broker.post(name: "b")
        let path = "/v1/observers/\(second["token"].text ?? "")/notifications"
        #expect(try broker.get(path).json["notifications"].elements.count == 1)
        #expect(try box.read().json["notifications"] == [])
    }

    @Test("since fills a new mailbox from the replay ring")
    func since() throws {
        let broker = try Broker()
        for _ in 0..<3 { try broker.post(name: "a") }
        let box = try MailboxPeer(broker, #""name":"a","since":1"#)
        #expect(try box.read().json["notifications"].elements.map { $0["seq"] } == [2, 3])
    }

    // MARK: Long polls

    @Test("a long poll is answered by the next notification", arguments: [1, 2])
    func poll(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let peer = try box.poll()
        #expect(try peer.read() == nil)
        #expect(try box.state() == "live")
        #expect(try broker.post(name: "b")["matched"] == 0)
        #expect(try peer.read() == nil)
        #expect(try broker.post(name: "a")["delivered"] == 1)
        let page = try #require(try peer.read())
        #expect(page.status == 200)
        #expect(page.json["notifications"].elements.map { $0["seq"] } == [2])
        #expect(page.json["next"] == 2)
        #expect(try box.state() == "disconnected")
        // The connection survives.
        #expect(try peer.request("GET", "/livez").status == 200)
        // A waiting notification is answered at once.
        #expect(try box.poll().read()?.json["next"] == 2)
        #expect(try box.poll("?after=2").read() == nil)
    }

    @Test("all that comes in one callout comes in one answer", arguments: [1, 2])
    func pollBatch(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let peer = try box.poll()
        _ = try broker.post(#"[{"name":"a"},{"name":"a"},{"name":"a"}]"#)
        #expect(try peer.read()?.json["notifications"].elements.count == 3)
    }

    @Test("at its end a long poll is answered with an empty list", arguments: [1, 2])
    func pollEnds(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let short = try box.poll(wait: 1)
        try broker.advance(by: .milliseconds(950))
        #expect(try short.read() == nil)
        try broker.advance(by: .milliseconds(100))
        #expect(try short.read()?.json == ["notifications": [], "gaps": [], "next": 0])
        #expect(try box.state() == "disconnected")
        // As long as the broker allows: 60 s.
        let long = try box.poll(wait: 1_000)
        try broker.advance(by: .milliseconds(59_900))
        #expect(try long.read() == nil)
        try broker.advance(by: .milliseconds(200))
        #expect(try long.read()?.status == 200)
        #expect(try box.poll(wait: 0).read()?.status == 200)
    }

    @Test("a second reader takes over, and the first is told", arguments: [1, 2])
    func readerReplaced(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let first = try box.poll()
        let second = try box.poll()
        #expect(try first.read()?.problem == "reader-replaced")
        #expect(try second.read() == nil)
        try broker.post(name: "a")
        #expect(try second.read()?.json["notifications"].elements.count == 1)
        #expect(try box.state() == "disconnected")
        // A plain look takes nothing over.
        let third = try box.poll("?after=1")
        #expect(try box.read().status == 200)
        #expect(try third.read() == nil)
    }

    @Test(
        "what waits behind a poll is done with its answer, its turn's end too", arguments: [1, 2])
    func pipelined(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let socket = try broker.webSocket()
        try socket.observe("b")
        let peer = try box.poll()
        try peer.send(HTTPPeer.text("POST", "/v1/channels/b?style=asap", ""))
        #expect(try socket.takeNames() == [])
        try broker.post(name: "a")
        #expect(try peer.read()?.status == 200)
        #expect(try peer.read()?.status == 202)
        #expect(try socket.takeNames() == ["b"])
    }

    @Test("a removal ends a poll with 410", arguments: [1, 2])
    func removedWhilePolled(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let peer = try box.poll()
        #expect(try broker.request("DELETE", "/v1/observers/\(box.token)").status == 204)
        let answer = try #require(try peer.read())
        #expect(answer.problem == "observer-removed")
        #expect(answer.json["reason"] == "removed")
    }

    @Test("the end of its connection is the end of a poll", arguments: [1, 2])
    func pollCut(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let peer = try box.poll()
        peer.peer.reset()
        try broker.crank()
        #expect(try box.state() == "disconnected")
        #expect(try broker.post(name: "a")["held"] == 1)
        for node in broker.nodes { #expect(node.server.host.polls.earliestDeadline == nil) }
        #expect(try box.read().json["notifications"].elements.count == 1)
        // A peer that shuts down its half may still read: it is answered at once.
        let half = try box.poll("?after=1")
        half.peer.close()
        try broker.crank()
        #expect(try box.state() == "disconnected")
    }

    @Test("a connection that ends just behind its poll leaves no reader", arguments: [false, true])
    func pollCutAtOnce(isHalf: Bool) throws {
        let broker = try Broker()
        let box = try MailboxPeer(broker)
        let peer = try broker.http()
        peer.peer.send(HTTPPeer.text("GET", box.path, fields: ["Prefer: wait=10"]).utf8)
        _ = try broker.nodes[0].turn()
        if isHalf { peer.peer.halfClose() } else { peer.peer.reset() }
        try broker.crank()
        #expect(try box.state() == "disconnected")
        #expect(broker.nodes[0].server.host.polls.earliestDeadline == nil)
    }

    @Test("a stop answers the polls")
    func pollAtStop() throws {
        let broker = try Broker()
        let box = try MailboxPeer(broker)
        let peer = try box.poll()
        try broker.signal(15)
        let answer = try #require(try peer.read())
        #expect(answer.status == 200)
        #expect(answer.json["notifications"] == [])
    }

    @Test("the clients that are removed take their readers along", arguments: [1, 2])
    func clientRemoved(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let peer = try box.poll()
        let response = try broker.request(
            "DELETE", "/v1/clients/\(box.row["client"].text ?? "")",
            fields: ["Belfry-Session: \(box.row["session"].text ?? "")"])
        #expect(response.status == 204)
        #expect(try peer.read()?.json["reason"] == "client-removed")
    }

    @Test("a page of a foreign origin may not even read a mailbox: that acknowledges")
    func origin() throws {
        let box = try MailboxPeer(try Broker())
        let response = try box.read(fields: ["Origin: https://evil.example"])
        #expect(response.problem == "foreign-origin")
    }
}
