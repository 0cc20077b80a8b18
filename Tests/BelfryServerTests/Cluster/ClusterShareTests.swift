import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Shares at brokers that share a log: each broker counts what was made through it")
struct ClusterShareTests {
    private static func cluster(
        _ adjust: @escaping (inout ServerConfiguration) -> Void
    ) throws -> BrokerCluster {
        var keys = Keys()
        let grants = #"[{"verbs":["post","observe","inspect"]}]"#
        keys.add("a", grants)
        keys.add("b", grants)
        let keyring = try keys.keyring()
        return try BrokerCluster(count: 2) {
            $0.keyring = keyring
            $0.anonymousGrants = Grants.none
            adjust(&$0)
        }
    }

    private static func register(_ key: String, at broker: Broker) throws -> Response {
        try broker.request(
            "POST", "/v1/observers", #"{"name":"n"}"#,
            fields: ["Content-Type: application/json", Keys.field(key)])
    }

    @Test("what a principal makes at one broker takes no room of another principal at another one")
    func observers() throws {
        let cluster = try Self.cluster { $0.observerLimit = 40 }
        #expect(try Self.register("b", at: cluster[1]).status == 201)
        let answers = try (0..<10).map { _ in try Self.register("a", at: cluster[0]) }
        #expect(answers.allSatisfy { $0.status == 201 })
        #expect(try Self.register("a", at: cluster[0]).status == 503)
        for _ in 0..<9 { #expect(try Self.register("b", at: cluster[1]).status == 201) }
        #expect(try Self.register("b", at: cluster[1]).status == 503)
        // A removal makes room where the observer was made, whichever broker performs it.
        let target = "/v1/observers/\(answers[3].json["token"].text ?? "")"
        #expect(
            try cluster[1].request("DELETE", target, fields: [Keys.field("a")]).status == 204)
        #expect(try Self.register("a", at: cluster[0]).status == 201)
        #expect(try Self.register("a", at: cluster[0]).status == 503)
    }

    @Test("numbers of owners: lives have parts of their own, and a broker keeps that of its first")
    func numbers() {
        let names = (0..<3).map { OwnerTable.Identity(principal: .principal([$0])) }
        let (one, two, alone) = (OwnerTable(), OwnerTable(), OwnerTable())
        one.takePart(seat: 1)
        two.takePart(seat: 4_095)
        let numbers = [one, two, alone].map { table in names.map { table.owner($0).number } }
        #expect(numbers[0] == [0x10_0001, 0x10_0002, 0x10_0003])
        #expect(numbers[1] == [0xFFF0_0001, 0xFFF0_0002, 0xFFF0_0003])
        #expect(numbers[2] == [1, 2, 3])
        one.takePart(seat: 9)
        #expect(one.owner(OwnerTable.Identity(principal: .principal([9]))).number == 0x10_0004)
    }
}
