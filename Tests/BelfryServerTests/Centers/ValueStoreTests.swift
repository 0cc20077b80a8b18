import BelfryCenter
import Testing

@testable import BelfryServer

@Suite("What writes to values cost")
struct ValueStoreTests {
    @Test("V15: 1,000 changes of one value in one turn are one row of the store", .withinOneTurn)
    func oneRow() throws {
        let (broker, store) = try Broker.durable()
        let client = try broker.webSocket()
        let calls = (1...1_000).map {
            #"{"jsonrpc":"2.0","id":\#($0),"method":"setValue","#
                + #""params":{"object":"o","keyPath":"n","value":\#($0)}}"#
        }
        client.put("[" + calls.joined(separator: ",") + "]")
        try broker.crank()
        let rows = store.waitingChanges.filter { change in
            guard case .value = change else { return false }
            return true
        }
        #expect(rows.count == 1)
        try store.commit(in: broker)
        #expect(try broker.get("/v1/values/o/n").text == "1000")
    }

    @Test("V14: a write whose head repeats the one before has its condition looked at again")
    func repeatedHead() throws {
        let broker = try Broker()
        let http = try broker.http()
        func put(_ body: String, _ fields: [String] = []) throws -> Response {
            try http.request("PUT", "/v1/values/o/v", body, fields: fields)
        }
        let isNew = ["If-None-Match: *"]
        #expect(try put("1", isNew).status == 201)
        #expect(try put("2", isNew).status == 412)
        #expect(try put("3", isNew).status == 412)
        let written = try put("4")
        #expect(written.status == 200)
        let tag = ["If-Match: \(written.field("etag") ?? "")"]
        #expect(try put("5", tag).status == 200)
        #expect(try put("6", tag).status == 412)
        #expect(try broker.get("/v1/values/o/v").text == "5")
    }
}
