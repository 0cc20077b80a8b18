import Testing

@testable import BelfryCenter

@Suite("StateDigest")
struct StateDigestTests {
    /// One of everything that a center can remember.
    static func script(_ change: (inout Script) -> Void = { _ in }) -> NotificationCenter {
        var script = Script()
        change(&script)
        return script.run()
    }

    /// The fields of a small history, each of which a test changes once.
    struct Script {
        var name = "default"
        var epoch = "k1"
        var limits = CenterLimits.ofGoldenFiles
        var client = ClientRegistration(
            id: 4, transport: .webSocket, connection: ConnectionName(node: 1, number: 9),
            sessionHash: SecretHash(high: 1, low: 2), principal: bytes("anonymous"))
        var first = ObserverRegistration(
            serial: 3, tokenHash: SecretHash(high: 5, low: 6), name: bytes("a"),
            object: bytes("o"), selector: bytes("notify"))
        var removed = ObserverRegistration(
            serial: 5, tokenHash: SecretHash(high: 7, low: 8), name: bytes("b"), object: nil,
            selector: bytes("notify"))
        var remover = Remover.client(4)
        var post = Post(
            id: NotificationID(high: 10, low: 11),
            content: Notification.Content(
                name: bytes("a"), object: bytes("o"), userInfo: bytes("{}")))
        var wall: Int64 = 1_000
        var monotonic: Int64 = 50
        var hasEmptyCommand = false
        var seed = HashSeed(1, 2)

        func run() -> NotificationCenter {
            var center = NotificationCenter(
                name: bytes(name), epoch: bytes(epoch), limits: limits, seed: seed)
            var effects = Effects()
            var actions: [Command.Action] = [
                .connect(client, observers: [first], since: nil),
                .addObserver(removed, client: client.id, since: nil), .post(post, PostTerms()),
                .removeObserver(serial: removed.serial, by: remover),
            ]
            if hasEmptyCommand {
                actions.append(
                    .disconnect(client: 999, connection: ConnectionName(node: 1, number: 9)))
            }
            for action in actions {
                let index = center.appliedIndex + 1
                center.apply(
                    Command(
                        id: CommandID(node: 1, incarnation: 1, counter: index),
                        time: CommandTime(
                            wallMilliseconds: wall, monotonicNanoseconds: monotonic),
                        action: action), at: index, into: &effects)
            }
            return center
        }

        mutating func setClient(
            id: UInt64 = 4, transport: Transport = .webSocket, node: UInt32 = 1,
            number: UInt64 = 9, session: SecretHash = SecretHash(high: 1, low: 2),
            principal: String = "anonymous"
        ) {
            client = ClientRegistration(
                id: id, transport: transport,
                connection: ConnectionName(node: node, number: number), sessionHash: session,
                principal: bytes(principal))
        }

        mutating func setFirst(
            serial: UInt64 = 3, hash: SecretHash = SecretHash(high: 5, low: 6),
            name: String? = "a", object: String? = "o", selector: String = "notify"
        ) {
            first = ObserverRegistration(
                serial: serial, tokenHash: hash, name: name.map { bytes($0) },
                object: object.map { bytes($0) }, selector: bytes(selector))
        }

        mutating func setRemoved(
            serial: UInt64 = 5, hash: SecretHash = SecretHash(high: 7, low: 8),
            name: String? = "b", object: String? = nil
        ) {
            removed = ObserverRegistration(
                serial: serial, tokenHash: hash, name: name.map { bytes($0) },
                object: object.map { bytes($0) }, selector: bytes("notify"))
        }

        mutating func setPost(
            high: UInt64 = 10, low: UInt64 = 11, name: String = "a", object: String? = "o",
            userInfo: String? = "{}", causedBy: NotificationID? = nil
        ) {
            post = Post(
                id: NotificationID(high: high, low: low),
                content: Notification.Content(
                    name: bytes(name), object: object.map { bytes($0) },
                    userInfo: userInfo.map { bytes($0) }), causedBy: causedBy)
        }
    }

    @Test("two centers with different hash seeds and the same commands have equal digests")
    func seedIsInvisible() {
        let one = Self.script()
        let other = Self.script { $0.seed = HashSeed(0xdead, 0xbeef) }
        #expect(one.digest() == other.digest())
    }

    @Test("the digest of one history is the same in every version and process")
    func fixedValue() {
        #expect(Self.script().digest() == Self.knownDigest)
    }

    private static let knownDigest: UInt64 = 6_281_286_678_115_925_966

    @Test("looking at a center does not change its digest")
    func lookingIsPure() {
        let center = Self.script()
        let before = center.digest()
        _ = center.explain(name: bytes("a"), object: nil) { _, _ in true }
        _ = center.observers(matching: ObserverQuery()) { _, _ in true }
        _ = center.unmatched(limit: 10) { _, _ in true }
        #expect(center.digest() == before)
    }

    @Test("a change of any one field changes the digest, and no two changes give the same")
    func everyFieldCounts() {
        let changes: [(inout Script) -> Void] = [
            { _ in }, { $0.name = "other" }, { $0.epoch = "k2" },
            { $0.limits.clientObserverLimit += 1 }, { $0.limits.replayCountLimit += 1 },
            { $0.limits.replayByteLimit += 1 }, { $0.limits.tombstoneLimit += 1 },
            { $0.limits.fateLimit += 1 }, { $0.limits.fateLifetime += .seconds(1) },
            { $0.limits.fateLifetime += .nanoseconds(1) },
            { $0.limits.unobservedNameLimit += 1 }, { $0.limits.causedByDepthLimit += 1 },
            { $0.setClient(id: 6) }, { $0.setClient(transport: .events) },
            { $0.setClient(node: 2) }, { $0.setClient(number: 10) },
            { $0.setClient(session: SecretHash(high: 0, low: 2)) },
            { $0.setClient(session: SecretHash(high: 1, low: 0)) },
            { $0.setClient(principal: "root") }, { $0.setFirst(serial: 2) },
            { $0.setFirst(hash: SecretHash(high: 0, low: 6)) },
            { $0.setFirst(hash: SecretHash(high: 5, low: 0)) }, { $0.setFirst(name: nil) },
            { $0.setFirst(name: "c") }, { $0.setFirst(object: nil) },
            { $0.setFirst(object: "p") }, { $0.setFirst(selector: "input:") },
            { $0.setRemoved(serial: 6) }, { $0.setRemoved(hash: SecretHash(high: 0, low: 8)) },
            { $0.setRemoved(name: nil) }, { $0.setRemoved(object: "o") },
            { $0.remover = .client(5) }, { $0.remover = .broker },
            { $0.remover = .principal(bytes("root")) }, { $0.setPost(high: 9) },
            { $0.setPost(low: 9) }, { $0.setPost(name: "z") }, { $0.setPost(object: nil) },
            { $0.setPost(object: "") }, { $0.setPost(userInfo: nil) },
            { $0.setPost(userInfo: "{} ") }, { $0.setPost(object: "o{", userInfo: "}") },
            { $0.setPost(causedBy: NotificationID(high: 0, low: 0)) }, { $0.wall += 1 },
            { $0.monotonic += 1 }, { $0.hasEmptyCommand = true },
        ]
        var seen: [UInt64: Int] = [:]
        for (number, change) in changes.enumerated() {
            let digest = Self.script(change).digest()
            #expect(seen[digest] == nil, "changes \(seen[digest] ?? -1) and \(number)")
            seen[digest] = number
        }
    }
}
