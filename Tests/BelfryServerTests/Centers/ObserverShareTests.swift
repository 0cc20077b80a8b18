import BelfryCenter
import Testing

@testable import BelfryServer

@Suite("Shares of observers: of each kind that they fill")
struct ObserverShareTests {
    @Test("V18: observers of values: a quarter of the queue's memory, then 503 names the option")
    func observersOfValues() throws {
        var keys = Keys()
        for name in ["a", "b"] { keys.add(name, #"[{"verbs":["observe","read"]}]"#) }
        let keyring = try keys.keyring()
        let broker = try Broker(connectionLimit: 900) {
            $0.keyring = keyring
            $0.memory.queue = 200_000
        }
        func fields(_ key: String) -> [String] {
            ["Content-Type: application/json", Keys.field(key)]
        }
        func register(_ key: String, _ number: Int) throws -> Response {
            try broker.request(
                "POST", "/v1/observers",
                #"{"object":"v","keyPath":"n\#(number).a.b.c.d.e.f.g.h.i.j.k.l.m.n"}"#,
                fields: fields(key))
        }
        var count = 0
        while try register("a", count).status == 201, count < 1_000 { count += 1 }
        #expect((4...30).contains(count))
        let refused = try register("a", count)
        #expect(refused.status == 503 && refused.problem == "overloaded")
        #expect(refused.json["detail"].text?.contains("--principal-share") == true)
        #expect(refused.json["detail"].text?.contains("kind queue") == true)
        #expect(try register("b", count).status == 201)
        let plain = try broker.request(
            "POST", "/v1/observers", #"{"name":"n"}"#, fields: fields("a"))
        #expect(plain.status == 201)
        #expect(broker.held("a").memory[.queue] >= 50_000)
    }
}
