import BelfryTLS
import Testing

@testable import BelfryCluster

@Suite("NATSJournal: snapshots")
struct NATSSnapshotTests {
    private static let piece = 512 << 10
    private static let stream = "BELFRY_prod_SNAP"

    private func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3 &+ $0) }
    }

    private func manifest(_ state: [UInt8], index: UInt64, _ sequences: [UInt64]) -> [UInt8] {
        SnapshotManifest(
            index: index, byteCount: state.count, digest: Digest(of: state.span).bytes,
            sequences: sequences
        ).code
    }

    // MARK: Keeping

    @Test("pieces are published a few at a time, and behind them what makes them whole")
    func save() throws {
        let server = try ScriptedServer.ready { $0.snapshotByteLimit = 16 << 20 }
        let state = bytes(5 * Self.piece + 1)
        server.journal.save(JournalSnapshot(index: 7, state: state))
        var sent = server.sent()
        #expect(sent.map(\.inquiry) == ["s.1.0", "s.1.1", "s.1.2", "s.1.3"])
        #expect(sent.allSatisfy { $0.subject == "belfry.prod.snap.piece" && $0.verb == "PUB" })
        // Another broker's pieces lie between, and answers change places.
        server.acknowledge("s.1.1", 12, in: Self.stream)
        server.acknowledge("s.1.0", 10, in: Self.stream)
        sent += server.sent()
        #expect(sent.map(\.inquiry).suffix(2) == ["s.1.4", "s.1.5"])
        #expect(sent.flatMap(\.payload) == state)
        for (place, sequence) in [(2, 14), (3, 15), (5, 20), (4, 18)] as [(Int, UInt64)] {
            #expect(server.sent() == [])
            server.acknowledge("s.1.\(place)", sequence, in: Self.stream)
        }
        let look = server.sent()
        #expect(look.map(\.inquiry) == ["v.1"])
        #expect(look[0].text == #"{"last_by_subj":"belfry.prod.snap.whole"}"#)
        server.answer("v.1", status: "404 Message Not Found")
        let whole = server.sent()
        #expect(whole.map(\.subject) == ["belfry.prod.snap.whole"])
        #expect(whole[0].payload == manifest(state, index: 7, [10, 12, 14, 15, 18, 20]))
        #expect(server.events() == [])
        server.acknowledge("w.1", 21, in: Self.stream)
        #expect(server.events() == ["saved 7"] && server.journal.isIdle)
    }

    @Test("a newer one that another broker has kept meanwhile stays the last")
    func newer() throws {
        for (index, isNewer) in [(7, false), (8, true)] as [(UInt64, Bool)] {
            let server = try ScriptedServer.ready()
            server.journal.save(JournalSnapshot(index: 7, state: []))
            server.answer("v.1", sequence: 3, manifest([1], index: index, [2]))
            #expect(server.inquiries() == (isNewer ? ["v.1"] : ["v.1", "w.1"]))
            #expect(server.events() == (isNewer ? ["saved 7"] : []))
        }
    }

    @Test("whatever fails of it, the save is forgotten")
    func failures() throws {
        let failures: [(ScriptedServer) -> Void] = [
            { $0.refuse("s.1.0", number: 10_077, "maximum bytes exceeded") },
            { $0.answer("s.1.0", status: "503") },
            { $0.acknowledge("s.1.0", 3, in: "BELFRY_prod") },
            {
                $0.acknowledge("s.1.0", 3, in: Self.stream)
                $0.answer("v.1", status: "503")
            },
            {
                $0.acknowledge("s.1.0", 3, in: Self.stream)
                $0.answer("v.1", status: "404")
                $0.answer("w.1", "{}")
            },
            { $0.journal.didDisconnect() },
        ]
        for (number, fail) in failures.enumerated() {
            let server = try ScriptedServer.ready()
            server.journal.save(JournalSnapshot(index: 7, state: [1]))
            fail(server)
            #expect(server.journal.isIdle && server.events() == [], "failure \(number)")
        }
    }

    @Test("the same one once more goes on while pieces are stored, and begins anew where none is")
    func goesOn() throws {
        let server = try ScriptedServer.ready { $0.snapshotByteLimit = 16 << 20 }
        let snapshot = JournalSnapshot(index: 7, state: bytes(5 * Self.piece))
        server.journal.save(snapshot)
        server.acknowledge("s.1.0", 3, in: Self.stream)
        server.journal.save(snapshot)
        #expect(server.inquiries() == ["s.1.0", "s.1.1", "s.1.2", "s.1.3", "s.1.4"])
        server.journal.save(snapshot)
        #expect(server.inquiries() == ["s.2.0", "s.2.1", "s.2.2", "s.2.3"])
    }

    @Test("a new one takes the place of the one under way, whose answers are dropped")
    func replaced() throws {
        let server = try ScriptedServer.ready()
        server.journal.save(JournalSnapshot(index: 7, state: [1]))
        server.journal.save(JournalSnapshot(index: 8, state: [2]))
        server.acknowledge("s.1.0", 3, in: Self.stream)
        server.acknowledge("s.2.7", 3, in: Self.stream)
        #expect(server.inquiries() == ["s.1.0", "s.2.0"])
        server.acknowledge("s.2.0", 4, in: Self.stream)
        #expect(server.inquiries() == ["v.2"])
        // One piece that is acknowledged twice is not two.
        server.journal.save(JournalSnapshot(index: 9, state: bytes(Self.piece + 1)))
        server.acknowledge("s.3.0", 5, in: Self.stream)
        server.acknowledge("s.3.0", 6, in: Self.stream)
        #expect(server.inquiries() == ["s.3.0", "s.3.1"])
    }

    @Test("a snapshot has a third of the room, and a larger one is not kept")
    func largest() throws {
        let server = try ScriptedServer.ready { $0.snapshotByteLimit = 30 }
        server.journal.save(JournalSnapshot(index: 7, state: bytes(11)))
        #expect(server.sent() == [] && server.journal.refusedSnapshotByteCount == 11)
        server.journal.save(JournalSnapshot(index: 7, state: bytes(10)))
        #expect(server.inquiries() == ["s.2.0"])
        #expect(server.journal.refusedSnapshotByteCount == nil)
    }

    @Test("pieces are no larger than max_payload, and no more than may be")
    func pieces() throws {
        let maxPayload = 1_000
        let server = try ScriptedServer.ready(maxPayload: maxPayload) {
            $0.entryByteLimit = 100
            $0.snapshotByteLimit = 1 << 30
        }
        let most = NATSSettings.pieceLimit * maxPayload
        server.journal.save(JournalSnapshot(index: 7, state: bytes(most + 1)))
        #expect(server.sent() == [] && server.journal.refusedSnapshotByteCount == most + 1)
        server.journal.save(JournalSnapshot(index: 7, state: bytes(most)))
        #expect(server.sent().map(\.payload.count) == [1_000, 1_000, 1_000, 1_000])
    }

    // MARK: Loading

    /// Answers a load by a snapshot of pieces of two bytes.
    private func tell(
        _ server: ScriptedServer, load: Int, _ state: [UInt8], as manifest: [UInt8]? = nil,
        sequence: UInt64 = 50
    ) {
        let pieces = stride(from: 0, to: state.count, by: 2).map {
            Array(state[$0..<min($0 + 2, state.count)])
        }
        let sequences = pieces.indices.map { UInt64($0) * 3 + 1 }
        server.answer(
            "l.\(load)", sequence: sequence,
            manifest ?? self.manifest(state, index: 9, sequences))
        for (place, piece) in pieces.enumerated() {
            server.answer("m.\(load).\(place)", sequence: sequences[place], piece)
        }
    }

    @Test("a snapshot is what makes it whole and its pieces, a few at a time and in any order")
    func load() throws {
        let server = try ScriptedServer.ready()
        let state = bytes(11)
        server.journal.load()
        #expect(server.sent().map(\.text) == [#"{"last_by_subj":"belfry.prod.snap.whole"}"#])
        let sequences: [UInt64] = [3, 5, 6, 8, 9, 20]
        server.answer("l.1", sequence: 21, manifest(state, index: 9, sequences))
        #expect(
            server.sent().map(\.text) == [
                #"{"seq":3}"#, #"{"seq":5}"#, #"{"seq":6}"#, #"{"seq":8}"#,
            ])
        for place in [1, 0, 3, 2, 5, 4] {
            server.answer(
                "m.1.\(place)", sequence: sequences[place],
                Array(state[2 * place..<min(2 * place + 2, 11)]))
        }
        #expect(server.inquiries() == ["m.1.4", "m.1.5"])
        guard case .snapshot(let snapshot)? = server.journal.next() else {
            Issue.record("no snapshot")
            return
        }
        #expect(snapshot == JournalSnapshot(index: 9, state: state) && server.journal.isIdle)
    }

    @Test("no snapshot is none, and one without a byte is one")
    func none() throws {
        let server = try ScriptedServer.ready()
        server.journal.load()
        server.answer("l.1", status: "404 Message Not Found")
        #expect(server.events() == ["snapshot none"])
        server.journal.load()
        server.answer("l.2", sequence: 1, manifest([], index: 3, []))
        #expect(server.events() == ["snapshot 3 0"])
    }

    @Test("a broken one is asked for once more, then not told; the last one in vain counts as none")
    func broken() throws {
        let state = bytes(4)
        let good = manifest(state, index: 9, [1, 4])
        var other = good
        other[20] ^= 1
        let cases: [[UInt8]] = [
            other, Array(good.dropLast()), [], [2] + Array(good.dropFirst()),
            manifest(bytes(5), index: 9, [1, 4]), manifest(bytes(3), index: 9, [1, 4]),
            manifest(state, index: 9, [1, 5]),
        ]
        for (number, code) in cases.enumerated() {
            let server = try ScriptedServer.ready()
            server.journal.load()
            tell(server, load: 1, state, as: code)
            #expect(!server.journal.isIdle && server.events() == [], "case \(number)")
            tell(server, load: 2, state)
            #expect(server.events() == ["snapshot 9 4"], "case \(number)")
        }
        let server = try ScriptedServer.ready()
        for round in 1...NATSSettings.brokenSnapshotLimit {
            #expect(server.events() == [])
            server.journal.load()
            tell(server, load: 2 * round - 1, state, as: other)
            tell(server, load: 2 * round, state, as: other)
            #expect(server.journal.isIdle)
        }
        #expect(server.events() == ["snapshot none"])
        // Another one is counted from the start.
        let next = 2 * NATSSettings.brokenSnapshotLimit + 1
        server.journal.load()
        tell(server, load: next, state, as: other, sequence: 51)
        tell(server, load: next + 1, state, as: other, sequence: 51)
        #expect(server.journal.isIdle && server.events() == [])
    }

    @Test("a piece that is gone breaks it, and a server that is not there only the question")
    func lostPiece() throws {
        let server = try ScriptedServer.ready()
        server.journal.load()
        server.answer("l.1", sequence: 9, manifest(bytes(4), index: 9, [1, 4]))
        server.answer("m.1.1", status: "404 Message Not Found")
        #expect(server.inquiries() == ["l.1", "m.1.0", "m.1.1", "l.2"])
        server.answer("l.2", sequence: 9, manifest(bytes(4), index: 9, [1, 4]))
        server.answer("m.2.1", status: "503")
        #expect(server.journal.isIdle && server.events() == [])
    }

    @Test("a load that gets on is not begun anew, and one that stands still is")
    func again() throws {
        let server = try ScriptedServer.ready()
        server.journal.load()
        server.answer("l.1", sequence: 9, manifest(bytes(4), index: 9, [1, 4]))
        server.journal.load()
        #expect(server.inquiries() == ["l.1", "m.1.0", "m.1.1"])
        server.answer("m.1.0", sequence: 1, Array(bytes(4)[..<2]))
        server.journal.load()
        #expect(server.inquiries() == [])
        server.journal.load()
        #expect(server.inquiries() == ["l.2"])
        server.answer("m.1.1", sequence: 4, Array(bytes(4)[2...]))
        #expect(server.events() == [])
    }

    @Test("what makes a snapshot whole has limits")
    func manifests() {
        let digest = [UInt8](repeating: 1, count: 32)
        func read(byteCount: Int, pieces: Int) -> SnapshotManifest? {
            SnapshotManifest(
                code: SnapshotManifest(
                    index: .max, byteCount: byteCount, digest: digest,
                    sequences: Array(repeating: 2, count: pieces)
                ).code, byteLimit: 100)
        }
        #expect(read(byteCount: 100, pieces: NATSSettings.pieceLimit)?.index == .max)
        #expect(read(byteCount: 101, pieces: 1) == nil)
        #expect(read(byteCount: 1, pieces: NATSSettings.pieceLimit + 1) == nil)
        let code = manifest([1], index: 1, [])
        #expect(SnapshotManifest(code: code, byteLimit: 1) != nil)
        for count in 0..<code.count {
            #expect(SnapshotManifest(code: Array(code[..<count]), byteLimit: 1) == nil)
        }
        var huge = code
        for place in 9..<17 { huge[place] = 0xFF }
        #expect(SnapshotManifest(code: huge, byteLimit: .max) == nil)
    }
}
