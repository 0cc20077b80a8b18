import BelfryAccess
import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

@Suite("Tokens over HTTP (Protocol.md section 9)")
struct TokenPathTests {
    @Test(
        "a wrong secret is 404, for reading and for removing, also after the removal",
        arguments: [1, 2])
    func wrongSecret(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let row = try socket.observe("a")
        let wrong = "/v1/observers/\(row["id"].text ?? "").AAAAAAAAAAAAAAAAAAAAAA"
        let right = "/v1/observers/\(row["token"].text ?? "")"
        for _ in 0..<2 {
            #expect(try broker.get(wrong).problem == "not-found")
            #expect(try broker.request("DELETE", wrong).problem == "not-found")
            _ = try broker.request("DELETE", right)
        }
        #expect(try broker.get(right).status == 410)
    }

    @Test(
        "the header Belfry-Token has the whole token or its secret, with the id in the path",
        arguments: [1, 2])
    func header(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        for isWhole in [true, false] {
            let row = try socket.observe("a")
            let other = try socket.observe("a")
            let token = try #require(row["token"].text)
            let secret = isWhole ? token : String(token.split(separator: ".")[1])
            let path = "/v1/observers/\(row["id"].text ?? "")"
            let otherPath = "/v1/observers/\(other["id"].text ?? "")"
            let field = ["Belfry-Token: \(secret)"]
            #expect(try broker.request("DELETE", otherPath, fields: field).status == 404)
            #expect(try broker.get(path, fields: ["Belfry-Token: x"]).status == 404)
            #expect(try broker.get(path, fields: field).json["id"] == row["id"])
            #expect(try broker.request("DELETE", path, fields: field).status == 204)
            #expect(try broker.request("DELETE", path, fields: field).status == 410)
        }
    }

    @Test("the id alone needs a grant: inspect to read, admin to remove")
    func idAlone() throws {
        let broker = try Broker { $0.anonymousGrants = Grants([Grant([.observe])]) }
        let row = try broker.webSocket().observe("a")
        let path = "/v1/observers/\(row["id"].text ?? "")"
        #expect(try broker.get(path).problem == "not-found")
        #expect(try broker.request("DELETE", path).problem == "not-found")
        let usual = try Broker()
        let second = try usual.webSocket()
        let known = "/v1/observers/\(try second.observe("a")["id"].text ?? "")"
        #expect(try usual.get(known).status == 200)
        #expect(try usual.request("DELETE", known).problem == "not-found")
    }

    @Test("an admin removes by id, where its grant covers the filter")
    func admin() throws {
        let broker = try Broker {
            $0.anonymousGrants = Grants([
                Grant([.observe]), Grant([.admin, .inspect], names: [Pattern("Mail*")]),
            ])
        }
        let socket = try broker.webSocket()
        let mail = "/v1/observers/\(try socket.observe("MailSent")["id"].text ?? "")"
        let door = "/v1/observers/\(try socket.observe("Door")["id"].text ?? "")"
        #expect(try broker.request("DELETE", mail).status == 204)
        #expect(try broker.request("DELETE", mail).status == 410)
        #expect(try broker.request("DELETE", door).status == 404)
        #expect(try broker.get(mail).status == 410)
        #expect(try broker.get(door).status == 404)
    }

    @Test("an answer that a secret has opened is kept out of caches")
    func noStore() throws {
        let broker = try Broker()
        let row = try broker.webSocket().observe("a")
        let response = try broker.get("/v1/observers/\(row["token"].text ?? "")")
        #expect(response.field("cache-control") == "no-store")
        #expect(response.json["token"] == .null)
    }

    @Test("an observer over HTTP needs the session of a client of that center", arguments: [1, 2])
    func session(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let id = socket.client
        for (session, status) in [
            ("\(id).AAAAAAAAAAAAAAAAAAAAAA", 404), (id, 404), ("nonsense", 404),
            (socket.session, 201),
        ] {
            let body = #"{"name":"a","session":"\#(session)"}"#
            #expect(try broker.post(body, target: "/v1/observers").status == status)
            if status == 201 {
                let elsewhere = try broker.post(body, target: "/v1/centers/other/observers")
                #expect(elsewhere.status == 404)
            }
        }
    }

    @Test("removing a client needs its session or admin", arguments: [1, 2])
    func removeClient(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let other = try broker.webSocket()
        let path = "/v1/clients/\(socket.client)"
        for session in [nil, "x", other.session] {
            let fields = session.map { ["Belfry-Session: \($0)"] } ?? []
            #expect(try broker.request("DELETE", path, fields: fields).status == 404)
        }
        let own = ["Belfry-Session: \(socket.session)"]
        #expect(try broker.request("DELETE", path, fields: own).status == 204)
        try socket.read()
        #expect(socket.closeCode == 4002)
        #expect(try broker.request("DELETE", path, fields: own).status == 404)
        try other.send(.ping, [])
        #expect(other.closeCode == nil)
    }

    @Test("an event stream that is removed as a client ends", arguments: [1, 2])
    func removeStream(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) {
            $0.anonymousGrants = Grants([Grant(.all)])
        }
        let stream = try broker.events("/v1/events?name=a", loop: loopCount - 1)
        #expect(try broker.request("DELETE", "/v1/clients/\(stream.client)").status == 204)
        #expect(stream.peer.sawEndOfOutput)
        #expect(try broker.post(name: "a")["matched"] == 0)
    }
}
