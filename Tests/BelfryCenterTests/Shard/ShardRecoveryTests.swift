import Testing

@testable import BelfryCenter

@Suite("Shard: a log that has lost entries goes on with what one broker has applied of it")
struct ShardRecoveryTests {
    private static let a = bytes("a")

    private static func mailbox(_ number: UInt64) -> ShardCommand.Action {
        .tell(
            center: a,
            .connect(
                ClientRegistration(
                    transport: .mailbox, connection: ConnectionName(node: 0, number: 0),
                    sessionHash: SecretHash(high: number, low: 0), principal: bytes("p")),
                observers: [
                    ObserverRegistration(
                        tokenHash: SecretHash(high: number, low: 1), name: bytes("n"),
                        object: nil, selector: bytes("s"))
                ], since: nil))
    }

    @Test("law 3: observers are told an unknown loss, also where a client was removed before")
    func removedClient() throws {
        var log = LogScenario()
        try log.write("n1", .nodeUp(level: 1), .makeCenter(Self.a, epoch: bytes("e1")))
        for number in [1, 2, 3] as [UInt64] { try log.write("n1", Self.mailbox(number)) }
        let clients = log.shard.centers[0].clients.order.living.map(\.serial)
        #expect(clients.count == 3)
        try log.write(
            "n1", .tell(center: Self.a, .removeClient(client: clients[1], by: .broker)))
        var shard = log.shard
        let sequence = shard.centers[0].sequence
        shard.recover(at: 9, chain: 7) { bytes("e2") }
        let center = shard.centers[0]
        #expect(center.epoch == bytes("e2") && center.sequence > sequence)
        let observers = center.observers.order.living.map(\.serial)
        #expect(observers.count == 2)
        for serial in observers {
            let page = try #require(center.mailbox(of: serial, after: 0, limit: .max))
            #expect(page.gaps.map(\.reason) == [.unknown])
        }
    }
}
