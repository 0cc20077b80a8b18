import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("The row of an observer: its lease, and what it was told (rules O8 and O9)")
struct ObserverRowTests {
    private func row(_ broker: Broker, _ id: String) throws -> Value {
        try broker.get("/v1/observers/\(id)").json
    }

    @Test("the end of a lease is told while it runs", arguments: [1, 2])
    func leaseEnd(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let observer = try socket.result("addObserver", #"{"name":"a","lease":60}"#)
        let id = observer["id"].text ?? ""
        #expect(try !row(broker, id).has("leaseEndsAt"))
        socket.http.peer.close()
        try broker.crank()
        #expect(try row(broker, id)["leaseEndsAt"] == "2026-01-01T00:01:00.000Z")
        try broker.advance(by: .seconds(30))
        #expect(try row(broker, id)["leaseEndsAt"] == "2026-01-01T00:01:00.000Z")
    }

    @Test("the last five losses that were told are there, and no more")
    func toldGaps() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        let observer = try socket.result(
            "addObserver", #"{"name":"a","suspensionBehavior":"drop"}"#)
        let id = observer["id"].text ?? ""
        #expect(try !row(broker, id).has("gaps"))
        for count in 1...6 {
            try socket.result("setSuspended", #"{"suspended":true}"#)
            for _ in 0..<count { try broker.post(name: "a") }
            try socket.result("setSuspended", #"{"suspended":false}"#)
        }
        let gaps = try row(broker, id)["gaps"].elements
        #expect(gaps.map { $0["lost"] } == [2, 3, 4, 5, 6])
        #expect(gaps[0]["firstSeq"] == 2 && gaps[0]["lastSeq"] == 3)
        #expect(gaps[0]["reason"] == "dropped")
        #expect(gaps[4]["toldAt"].text?.hasPrefix("2026-01-01T00:00:00") == true)
    }

    @Test("O9: what remains of a removed observer has its name and its object")
    func tombstone() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        for (object, told) in [("o", Value.text("o")), (nil, .null)] {
            let token = try socket.observe("a", object)["token"].text ?? ""
            _ = try broker.request("DELETE", "/v1/observers/\(token)")
            let gone = try broker.get("/v1/observers/\(token)")
            #expect(gone.status == 410)
            #expect(gone.json["name"] == "a" && gone.json["object"] == told)
        }
    }

    @Test("the leak report has name, object, and how many are held")
    func leak() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        _ = try socket.result(
            "addObserver", #"{"name":"a","object":"o","suspensionBehavior":"hold","lease":86400}"#)
        socket.http.peer.close()
        try broker.crank()
        try broker.post(name: "a", object: "o")
        try broker.advance(by: .seconds(7_200))
        let leaks = try broker.get("/v1/reports/leaks").json["observers"].elements
        #expect(leaks.count == 1)
        #expect(leaks.first?["name"] == "a" && leaks.first?["object"] == "o")
        #expect(leaks.first?["held"] == 1)
    }
}
