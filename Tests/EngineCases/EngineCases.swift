import BelfryCluster

/// The rules for the journal of this engine alone.
struct EngineCases {
    let engine: Engine

    typealias Case = @Sendable (EngineCases) -> [String]

    static let all: [(name: String, run: Case)] = [
        ("a log of many batches is read to its end", { $0.manyBatches() }),
        ("a full log refuses, and takes the same attempt when it has room", { $0.fullLog() }),
        ("a trim never empties the log, whatever index it has", { $0.trimBeyond() }),
        ("a snapshot of many pieces is the same elsewhere", { $0.pieces() }),
        ("two brokers keep snapshots at the same time", { $0.twoSaves() }),
        ("an older snapshot does not come behind a newer one", { $0.olderSave() }),
        (
            "a snapshot whose pieces are gone is not told, and the one behind it is",
            { $0.lostPieces() }
        ),
        ("a stream with other settings is told", { $0.otherSettings() }),
        ("a server that takes no entry of that size is told", { $0.smallPayload() }),
        ("a stream for which there is no room is told", { $0.noRoom() }),
        ("more copies than there are servers are told", { $0.manyCopies() }),
        ("what other clients publish changes nothing", { $0.strangers() }),
        ("shards do not hear each other", { $0.shards() }),
        ("a journal goes on with a new connection", { $0.newConnection() }),
        ("three brokers share a log", { $0.sharedLog() }),
        ("brokers that lose their connections share a log", { $0.lostConnections() }),
        ("a broker that comes late begins with a snapshot", { $0.lateBroker() }),
        ("brokers go on when the server that leads the log dies", { $0.lostServer() }),
    ]

    func name(_ number: UInt64, attempt: UInt64 = 0) -> EntryName {
        EntryName(life: 7, number: number, attempt: attempt)
    }

    /// The events of a journal once all has arrived, as text.
    func events(of link: EngineLink) -> [String] {
        var told: [String] = []
        repeat {
            engine.settle()
            while let event = link.journal.next() {
                switch event {
                case .entry(let index, let entry): told.append("entry \(index) \(entry.count)")
                case .appended(let name, let index): told.append("appended \(name.number) \(index)")
                case .refused(let name, let reason): told.append("refused \(name.number) \(reason)")
                case .end(let lastIndex): told.append("end \(lastIndex)")
                case .trimmed(let first): told.append("trimmed \(first)")
                case .snapshot(let snapshot):
                    told.append(
                        "snapshot \(snapshot.map { "\($0.index) \($0.state.count)" } ?? "none")")
                case .saved(let index): told.append("saved \(index)")
                case .reconnected: told.append("reconnected")
                case .beat(let beat): told.append("beat \(beat.life)")
                }
            }
        } while !link.journal.isIdle
        return told
    }

    func difference(_ found: [String], _ expected: [String]) -> [String] {
        found.sorted() == expected.sorted()
            ? [] : ["told \(found.suffix(20)), expected \(expected.suffix(20))"]
    }

    func bytes(_ count: Int, seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ seed) &* 2_654_435_761 >> 7) }
    }

    // MARK: The log

    private func manyBatches() -> [String] {
        engine.begin()
        let writer = engine.connect()
        // More than a batch has in entries, and then more than one has in bytes.
        let sizes = Array(repeating: 10, count: 1_100) + Array(repeating: 400_000, count: 22)
        for (place, size) in sizes.enumerated() {
            writer.journal.append(bytes(size), as: name(UInt64(place + 1)))
            if place % 64 == 63 || size > 10 { engine.settle() }
        }
        let appended = events(of: writer).filter { $0.hasPrefix("appended") }
        let reader = engine.connect()
        reader.journal.read(after: 0)
        let told = events(of: reader)
        let expected = sizes.enumerated().map { "entry \($0 + 1) \($1)" }
        return (appended.count == sizes.count ? [] : ["\(appended.count) were appended"])
            + (told == expected + ["end \(sizes.count)"]
                ? [] : ["told \(told.count) events, the last \(told.suffix(3))"])
    }

    private func fullLog() -> [String] {
        engine.begin()
        let link = engine.connect { $0.logByteLimit = 1 << 20 }
        for number: UInt64 in 1...3 {
            link.journal.append(bytes(300_000), as: name(number))
            engine.settle()
        }
        _ = events(of: link)
        link.journal.append(bytes(300_000), as: name(4))
        var problems = difference(events(of: link), ["refused 4 isFull"])
        // Less of it has room, and its name was not used.
        link.journal.append(bytes(1_000), as: name(4))
        problems += difference(events(of: link), ["appended 4 4", "entry 4 1000"])
        link.journal.append(bytes(300_000), as: name(5))
        problems += difference(events(of: link), ["refused 5 isFull"])
        link.journal.trim(through: 2)
        engine.settle()
        link.journal.append(bytes(300_000), as: name(5))
        return problems + difference(events(of: link), ["appended 5 5", "entry 5 300000"])
    }

    private func trimBeyond() -> [String] {
        engine.begin()
        let link = engine.connect()
        for number: UInt64 in 1...3 {
            link.journal.append([1], as: name(number))
            engine.settle()
        }
        _ = events(of: link)
        var problems: [String] = []
        for index in [3, 4, 900, UInt64.max] {
            link.journal.trim(through: index)
            engine.settle()
            link.journal.read(after: 2)
            problems += difference(events(of: link), ["entry 3 1", "end 3"])
        }
        link.journal.append([1, 2], as: name(4))
        return problems + difference(events(of: link), ["appended 4 4", "entry 4 2"])
    }

    // MARK: Snapshots

    private func pieces() -> [String] {
        engine.begin()
        let (first, second) = (engine.connect(), engine.connect())
        var problems: [String] = []
        let piece = 512 << 10
        for (index, count) in [0, 1, piece - 1, piece, piece + 1, 5 * piece + 3].enumerated() {
            let snapshot = JournalSnapshot(
                index: UInt64(index + 1), state: bytes(count, seed: index))
            first.journal.save(snapshot)
            problems += difference(events(of: first), ["saved \(index + 1)"])
            second.journal.load()
            engine.settle()
            guard case .snapshot(snapshot)? = second.journal.next() else {
                problems.append("a snapshot of \(count) bytes comes back otherwise")
                continue
            }
        }
        return problems
    }

    private func twoSaves() -> [String] {
        engine.begin()
        let links = [engine.connect(), engine.connect()]
        for link in links {
            link.journal.save(JournalSnapshot(index: 4, state: bytes(3_000_000)))
        }
        var problems = links.flatMap { difference(events(of: $0), ["saved 4"]) }
        links[0].journal.load()
        problems += difference(events(of: links[0]), ["snapshot 4 3000000"])
        return problems
    }

    private func olderSave() -> [String] {
        engine.begin()
        let links = [engine.connect(), engine.connect()]
        var problems: [String] = []
        for (link, index) in zip(links, [9, 5] as [UInt64]) {
            link.journal.save(JournalSnapshot(index: index, state: [1, 2]))
            problems += difference(events(of: link), ["saved \(index)"])
        }
        links[1].journal.load()
        return problems + difference(events(of: links[1]), ["snapshot 9 2"])
    }

    private func lostPieces() -> [String] {
        engine.begin()
        let link = engine.connect { $0.snapshotByteLimit = 4 << 20 }
        link.journal.save(JournalSnapshot(index: 1, state: bytes(1_000_000)))
        var problems = difference(events(of: link), ["saved 1"])
        // A broker saves and dies before the last message, again and again.
        let subject = "belfry.\(link.journal.settings.cluster).snap.piece"
        for _ in 0..<7 {
            let piece = String(repeating: "x", count: 512 << 10)
            link.send(piece, to: subject)
        }
        engine.settle()
        for _ in 0..<9 {
            link.journal.load()
            problems += difference(events(of: link), [])
        }
        link.journal.load()
        problems += difference(events(of: link), ["snapshot none"])
        link.journal.save(JournalSnapshot(index: 2, state: bytes(1_000_000)))
        problems += difference(events(of: link), ["saved 2"])
        link.journal.load()
        problems += difference(events(of: link), ["snapshot 2 1000000"])
        link.journal.save(JournalSnapshot(index: 3, state: bytes((4 << 20) / 3 + 1)))
        problems += difference(events(of: link), [])
        return problems
            + (link.journal.refusedSnapshotByteCount == (4 << 20) / 3 + 1
                ? [] : ["a large one is kept"])
    }

    // MARK: What the engine cannot do

    private func failure(_ change: (inout NATSSettings) -> Void) -> String {
        let link = engine.link(change)
        _ = engine.wait {
            if case .failed = link.journal.progress { return true }
            return link.journal.progress == .ready
        }
        guard case .failed(let failure) = link.journal.progress else {
            return "\(link.journal.progress)"
        }
        return "\(failure.isFinal ? "final: " : "")\(failure)"
    }

    private func begins(_ found: String, _ expected: String) -> [String] {
        found.hasPrefix(expected) ? [] : ["told \(found), expected \(expected)"]
    }

    private func otherSettings() -> [String] {
        engine.begin()
        let cluster = engine.connect().journal.settings.cluster
        return begins(
            failure { $0.logByteLimit += 1 },
            "final: the stream BELFRY_\(cluster) is there with max_bytes 16777216, "
                + "and 16777217 is asked for")
            + begins(
                failure { $0.snapshotByteLimit += 1 },
                "final: the stream BELFRY_\(cluster)_SNAP is there with max_bytes 16777216, ")
    }

    private func smallPayload() -> [String] {
        engine.begin()
        let maxPayload = engine.connect().journal.server?.maxPayload ?? 0
        return begins(
            failure { $0.entryByteLimit = 64 << 20 },
            "final: max_payload of the NATS server is \(maxPayload) bytes, "
                + "and the largest entry needs 67109248: ")
    }

    private func noRoom() -> [String] {
        engine.begin()
        return begins(
            failure { $0.logByteLimit = 1 << 50 },
            "final: the NATS servers have no room for the stream ")
    }

    private func manyCopies() -> [String] {
        engine.begin()
        let found = failure { $0.replicaCount = 5 }
        return begins(
            found,
            engine.settings().replicaCount == 1
                ? "final: the NATS servers cannot keep 5 copies of the stream "
                : "the NATS server does not make the stream ")
    }

    // MARK: Others

    private func strangers() -> [String] {
        engine.begin()
        let (link, stranger) = (engine.connect(), engine.connect())
        let prefix = "belfry.\(link.journal.settings.cluster)"
        for subject in ["rep", "beat"] {
            let large = "NATS/1.0\r\nA: \(String(repeating: "b", count: 100_000))\r\n\r\n"
            let blocks = [
                nil, "NATS/1.0\r\n\r\n", "rubbish", large, "NATS/1.0\r\nNats-Sequence: 1\r\n\r\n",
            ]
            for block in blocks {
                stranger.send("hello", to: "\(prefix).\(subject)", headers: block)
            }
            stranger.send("", to: "\(prefix).\(subject)")
        }
        return difference(events(of: link), [])
            + (link.journal.progress == .ready ? [] : ["\(link.journal.progress)"])
    }

    private func shards() -> [String] {
        engine.begin()
        let cluster = engine.settings().cluster
        let first = engine.connect()
        let second = engine.connect {
            $0 = NATSSettings(cluster: cluster, shard: 2, node: "n2")
            $0.replicaCount = first.journal.settings.replicaCount
            $0.logByteLimit = 16 << 20
            $0.snapshotByteLimit = 16 << 20
        }
        first.journal.append([1], as: name(1))
        second.journal.append([1, 2], as: name(1))
        second.journal.tell(Beat(node: [110], life: 1, appliedIndex: 0))
        return difference(events(of: first), ["entry 1 1", "appended 1 1"])
            + difference(events(of: second), ["entry 1 2", "appended 1 1", "beat 1"])
    }

    private func newConnection() -> [String] {
        engine.begin()
        let first = engine.connect()
        first.journal.append([1], as: name(1))
        var problems = difference(events(of: first), ["entry 1 1", "appended 1 1"])
        let again = engine.connect { $0 = first.journal.settings }
        again.journal.append([1], as: name(1))
        problems += difference(events(of: again), ["appended 1 1"])
        again.journal.read(after: 0)
        return problems + difference(events(of: again), ["entry 1 1", "end 1"])
    }
}
