import BelfryHistory
import Testing

@testable import BelfryCenter

@Suite("The code of entries and shards (decision 100)")
struct EntryCodeTests {
    /// An entry with every kind of command.
    private static var entry: Entry {
        let own: [ShardCommand.Action] = [
            .makeCenter(bytes("b"), epoch: bytes("e1")), .endCenter(bytes("b")),
            .nodeUp(level: 3), .nodeDown(bytes("n2"), life: 77), .level(2),
            .useTicket(SecretHash(high: .max, low: 1), until: 30), .nothing,
            .configure(.ofGoldenFiles, revision: 7),
        ]
        let told = CodeExamples.commands[CodeExamples.ofVersion1].map {
            ShardCommand.Action.tell(center: bytes("a"), $0.action)
        }
        return Entry(
            node: bytes("n1"), life: 1_700_000_000_000, number: 9, appliedIndex: 300,
            chain: 0xfeed_face_0123_4567, elapsed: 12, wallMilliseconds: 1_700_000_000_001,
            commands: (own + told).enumerated().map {
                Entry.Numbered(counter: 40 + UInt64($0.offset), action: $0.element)
            })
    }

    /// An entry with the commands of level 2.
    private static var entryOfLevel2: Entry {
        Entry(
            node: bytes("n1"), life: 1_700_000_000_000, number: 9, appliedIndex: 300, chain: 7,
            elapsed: 12, wallMilliseconds: 1_700_000_000_001,
            commands: [
                Entry.Numbered(
                    counter: 1,
                    action: .makeTicket(
                        SecretHash(high: 1, low: .max), principal: bytes("a"), shown: bytes("key"),
                        share: 2_500))
            ])
    }

    private static func error(of code: [UInt8]) -> CodeError? {
        do throws(CodeError) {
            _ = try Entry(code: code)
            return nil
        } catch {
            return error
        }
    }

    @Test("an entry is read as it was written")
    func roundTrip() throws {
        let read = try Entry(code: Self.entry.code)
        #expect(differences(Self.entry, read) == [])
        #expect(read.code == Self.entry.code)
    }

    @Test("what version 1 has written is read, and written so again")
    func golden() throws {
        let golden = try Golden("entry-1.txt", writing: [Self.entry.code])
        #expect(golden.lines == [Self.entry.code])
        #expect(try Entry(code: golden.lines[0]).code == golden.lines[0])
    }

    @Test("what level 2 has written is read, and written so again")
    func goldenOfLevel2() throws {
        let golden = try Golden("entry-level-2.txt", writing: [Self.entryOfLevel2.code])
        #expect(golden.lines == [Self.entryOfLevel2.code])
        #expect(try Entry(code: golden.lines[0]).code == golden.lines[0])
        #expect(differences(Self.entryOfLevel2, try Entry(code: golden.lines[0])) == [])
    }

    @Test("a shard of version 1 is restored, and goes on as version 2")
    func goldenShardOfVersion1() throws {
        for name in ["shard-1.txt", "shard-level-2.txt"] {
            let golden = try Golden(name, writing: [])
            let restored = try Shard(snapshot: golden.lines[0], seed: HashSeed(5, 6))
            let again = try Shard(snapshot: restored.snapshot(), seed: HashSeed(7, 8))
            #expect(again.digest() == restored.digest())
            #expect(again.snapshot() == restored.snapshot())
        }
    }

    @Test("a shard of version 2 is restored, and written so again")
    func goldenShard() throws {
        var log = LogScenario(limits: ReplayInTwoProcessesTests.limits)
        var source = CommandSource(seed: 98)
        try log.write("n1", .nodeUp(level: 1), .makeCenter(bytes("a"), epoch: bytes("e1")))
        for _ in 0..<40 {
            try log.write("n1", elapsed: 20, .tell(center: bytes("a"), source.next().action))
        }
        let golden = try Golden("shard-2.txt", writing: [log.shard.snapshot()])
        let restored = try Shard(snapshot: golden.lines[0], seed: HashSeed(5, 6))
        #expect(restored.snapshot() == golden.lines[0])
        #expect(restored.digest() == log.shard.digest())
    }

    @Test("a shard of level 2 is restored, and written so again")
    func goldenShardOfLevel2() throws {
        var log = LogScenario(limits: .ofGoldenFiles)
        try log.write("n1", .nodeUp(level: 2), .level(2))
        for number: UInt64 in 1...3 {
            try log.write(
                "n1", elapsed: 20,
                .makeTicket(
                    SecretHash(high: number, low: 1), principal: bytes("a"), shown: bytes("key"),
                    share: 9))
        }
        try log.write("n1", .useTicket(SecretHash(high: 2, low: 1), until: .max))
        let golden = try Golden("shard-2-level-2.txt", writing: [log.shard.snapshot()])
        #expect(golden.lines == [log.shard.snapshot()])
        let restored = try Shard(snapshot: golden.lines[0], seed: HashSeed(5, 6))
        #expect(restored.snapshot() == golden.lines[0])
    }

    @Test("a shard of level 4 has the key of its tags, is restored, and written so again")
    func goldenShardOfLevel4() throws {
        var log = LogScenario(limits: .ofGoldenFiles)
        let key = TagKey(high: 41, low: 42)
        try log.write("n1", .nodeUp(level: 4), .level(4, key))
        // No other entry changes it.
        try log.write("n1", .level(4, TagKey(high: 1, low: 2)))
        #expect(log.shard.tagKey == key)
        let golden = try Golden("shard-3.txt", writing: [log.shard.snapshot()])
        #expect(golden.lines == [log.shard.snapshot()])
        let restored = try Shard(snapshot: golden.lines[0], seed: HashSeed(5, 6))
        #expect(restored.tagKey == key)
        #expect(restored.snapshot() == golden.lines[0])
    }

    @Test("an unknown version or kind is named, and no part of an entry is an entry")
    func refused() {
        var code = Self.entry.code
        for count in code.indices { #expect(Self.error(of: Array(code[..<count])) != nil) }
        #expect(Self.error(of: code + [0]) == .goesOn)
        code[0] = 2
        #expect(Self.error(of: code) == .unknownVersion(2))
        let kinds: [(kind: [UInt8], error: CodeError)] = [
            ([0xC7, 1], .unknownKind(199)), ([0xD1, 1], .unknownKind(209)),
        ]
        for (kind, error) in kinds { #expect(Self.error(of: Self.code(of: kind)) == error) }
    }

    @Test("what a newer program has put behind the last field of a command is left out")
    func laterFields() throws {
        let entry = try Entry(code: Self.code(of: [0xCC, 1, 5, 6, 7, 8]))
        guard case .level(5, let key) = entry.commands[0].action else {
            Issue.record("it is another command")
            return
        }
        #expect(key == TagKey(high: 6, low: 7))
    }

    /// An entry with one command, for the center `a`, of these bytes.
    private static func code(of command: [UInt8]) -> [UInt8] {
        [1, 2] + bytes("n1") + [1, 1, 0, 0, 0, 0, 1, 1] + bytes("a") + [1, 1, 0]
            + [UInt8(command.count)] + command
    }
}
