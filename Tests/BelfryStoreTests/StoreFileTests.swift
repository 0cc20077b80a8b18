import BelfryCenter
import BelfrySystem
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// The tests of a file alone: durabilities, locks, copies, bounds.
@Suite("StoreFile")
struct StoreFileTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    func open(
        _ durability: Durability = .process, limits: StoreLimits = StoreLimits()
    ) throws -> StoreFile {
        try StoreFile(directory: directory.path, durability: durability, limits: limits)
    }

    static let name = Sample.bytes("default")
    static let center = StoreChange.center(name: name, .center(CenterRecord(epoch: [1])))

    @Test(
        "the durabilities are those of SQLite",
        arguments: [(Durability.power, 2), (.process, 1)] as [(Durability, Int64)])
    func durability(_ durability: Durability, synchronous: Int64) throws {
        let file = try open(durability)
        #expect(try file.connection.integer("PRAGMA synchronous") == synchronous)
        #expect(try file.connection.bytes("PRAGMA journal_mode") == Sample.bytes("wal"))
        #expect(try file.connection.bytes("PRAGMA locking_mode") == Sample.bytes("exclusive"))
        #expect(try file.connection.integer("PRAGMA page_size") == 4_096)
    }

    @Test("pages that only a burst of commits needed are not kept in memory")
    func memory() throws {
        var file = try open()
        try file.commit([Self.center])
        let clients = (1...60_000).map {
            StoreChange.center(name: Self.name, .client(Sample.client(UInt64($0))))
        }
        try file.commit(clients)
        #expect(file.connection.cacheByteCount > StoreFile.restingCacheByteCount)
        file.giveMemoryBack()
        #expect(file.connection.cacheByteCount < StoreFile.restingCacheByteCount)
        #expect(try file.load().centers[0].clients.count == 60_000)
    }

    @Test("one process has the store at a time")
    func lock() throws {
        let file = try open()
        #expect(throws: StoreError.locked) { _ = try open() }
        try file.close()
        _ = try open()
    }

    @Test("after an end in order the main file is all there is")
    func mainFileAlone() throws {
        var file = try open()
        try file.commit([Self.center])
        #expect(directory.has("belfry.db-wal"))
        try file.close()
        #expect(!directory.has("belfry.db-wal") && !directory.has("belfry.db-shm"))
    }

    @Test("a directory of the store is for its owner alone")
    func permissions() throws {
        let path = directory.path(of: "new")
        _ = try StoreFile(directory: path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test("the files of the store are for its owner alone, also in a directory that was there")
    func filePermissions() throws {
        var file = try open()
        try file.commit([Self.center])
        try file.layBallast()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        #expect(names == ["belfry.ballast", "belfry.db", "belfry.db-wal", "belfry.lock"])
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: directory.path(of: name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test("a directory that cannot be made is an error without its path")
    func noDirectory() {
        let missing = directory.path(of: "a") + "/b"
        #expect(throws: StoreError.system(SystemCallError(call: "mkdir", errno: ENOENT))) {
            _ = try StoreFile(directory: missing)
        }
    }

    // MARK: Copies

    @Test("a main file that is another one than before is a copy until all epochs are new")
    func copiedWithAnotherInode() throws {
        try open().close()
        let bytes = try directory.bytes(of: "belfry.db")
        try directory.write(bytes, to: "copy")
        try directory.remove("belfry.db")
        try FileManager.default.moveItem(
            atPath: directory.path(of: "copy"), toPath: directory.path(of: "belfry.db"))
        for _ in 0..<2 {
            // The epochs were not renewed: it stays a copy.
            var file = try open()
            #expect(try file.load().isCopied)
        }
        var file = try open()
        try file.commit([Self.center, .epochsRenewed])
        #expect(try !file.load().isCopied)
        try file.close()
        var next = try open()
        #expect(try !next.load().isCopied)
    }

    @Test("bytes of an earlier life that were written into the main file are a copy too")
    func copiedInPlace() throws {
        try open().close()
        let bytes = try directory.bytes(of: "belfry.db")
        try open().close()
        let handle = try #require(FileHandle(forWritingAtPath: directory.path(of: "belfry.db")))
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
        var file = try open()
        let image = try file.load()
        #expect(image.isCopied)
        #expect(image.incarnation == 3)
    }

    @Test("a new store beside an old lock file is no copy")
    func newBesideOldLock() throws {
        try open().close()
        try directory.remove("belfry.db")
        var file = try open()
        #expect(try !file.load().isCopied)
    }

    // MARK: Bounds

    @Test("a commit that finds no room changes nothing, and succeeds when there is room")
    func full() throws {
        var file = try open()
        try file.commit([Self.center])
        let before = try file.load()
        try file.connection.execute("PRAGMA max_page_count = 1")
        let record = Sample.notification(1, byteCount: 100_000)
        let other = Sample.bytes("other")
        let changes: [StoreChange] = [
            .center(name: other, .center(CenterRecord(epoch: [7]))),
            .center(name: other, .notification(record)),
        ]
        #expect(throws: StoreError.full) { try file.commit(changes) }
        #expect(try file.load() == before)
        try file.connection.execute("PRAGMA max_page_count = 1000000")
        try file.commit(changes)
        #expect(try file.load().centers[1].notifications == [record])
    }

    @Test("100,000 tombstones are kept, and no more")
    func tombstones() throws {
        let limit = StoreLimits().tombstoneLimit
        #expect(limit == 100_000)
        var file = try open()
        try file.commit([Self.center])
        for start in stride(from: 0, to: limit + 5_000, by: 15_000) {
            try file.commit(
                (start..<start + 15_000).map {
                    let removal = Change.observerRemoved(
                        serial: UInt64($0), Sample.tombstone(UInt64($0)))
                    return .center(name: Self.name, removal)
                })
        }
        let kept = try file.load().centers[0].tombstones
        #expect(kept.count == limit)
        #expect(kept.first?.serial == 5_000)
        #expect(kept.last?.serial == 104_999)
    }

    @Test("what is removed is not in use any more")
    func usedByteCount() throws {
        var file = try open()
        try file.commit([Self.center])
        let start = file.usedByteCount
        let record = Sample.notification(1, byteCount: 1 << 20)
        try file.commit([.center(name: Self.name, .notification(record))])
        #expect(file.usedByteCount > start + 1 << 20)
        try file.commit([.center(name: Self.name, .notificationReleased(sequence: 1))])
        #expect(file.usedByteCount == start)
    }

    @Test("free pages of the main file are given back to the disk")
    func shrink() throws {
        var file = try open()
        try file.commit([Self.center])
        for sequence: UInt64 in 1...10 {
            let record = Sample.notification(3 * sequence + 1, byteCount: 100_000)
            try file.commit([.center(name: Self.name, .notification(record))])
        }
        for sequence: UInt64 in 1...9 {
            let change = Change.notificationReleased(sequence: 3 * sequence + 1)
            try file.commit([.center(name: Self.name, change)])
        }
        let kept = try file.load()
        try file.shortenLog()
        let before = try directory.bytes(of: "belfry.db").count
        #expect(before > 1_000_000)
        try file.shrink()
        #expect(try directory.bytes(of: "belfry.db").count < 250_000)
        #expect(try directory.bytes(of: "belfry.db-wal").isEmpty)
        #expect(try file.load() == kept)
        #expect(try file.connection.bytes("PRAGMA quick_check(1)") == Sample.bytes("ok"))
    }

    @Test("the log is moved into the main file again and again, so it has a bound")
    func logBound() throws {
        var limits = StoreLimits()
        limits.ballastByteCount = 4 << 20
        var file = try open(limits: limits)
        try file.commit([Self.center])
        var largest = 0
        try file.layBallast()
        let limit = file.logPageLimit
        #expect(limit == 339)
        for sequence: UInt64 in 1...40 {
            let record = Sample.notification(sequence, byteCount: 200_000)
            try file.commit([
                .center(name: Self.name, .notification(record)),
                .center(name: Self.name, .notificationReleased(sequence: sequence - 1)),
            ])
            largest = max(largest, file.connection.logPageCount)
        }
        #expect(largest >= limit)
        #expect(largest < limit + 60)
        let error = file.moveLog()
        #expect(error == nil)
    }

    @Test("a commit adds no more to the log than its weight says", arguments: 1...4)
    func weight(seed: UInt64) throws {
        var source = ChangeSource(seed: seed, userInfoByteLimit: seed % 2 == 0 ? 200 : 6_000)
        var random = SplitMix(seed: seed)
        var file = try open()
        var largest = 0.0
        for _ in 0..<60 {
            let batch = StoreBatch(
                loop: 0, ticket: 0, changes: source.batch(1 + random.below(300)))
            let before = file.connection.logPageCount
            try file.commit(batch.changes)
            let after = file.connection.logPageCount
            let byteCount = (after < before ? after : after - before) * StoreChange.frameByteCount
            #expect(byteCount <= batch.weight + StoreWorker<StoreFile>.reserveByteCount)
            largest = max(largest, Double(byteCount) / Double(batch.weight))
        }
        // The weight is no guess into the blue either.
        #expect(largest > 0.05)
    }

    /// Changes with much text, each of which comes behind the ones before it.
    static let longChanges: [Change] = {
        let text = [UInt8](repeating: 97, count: 1_000)
        let row = ReportRow(observer: 1, outcome: .refused(error: text))
        let rows = [ReportRow](repeating: row, count: 1_000)
        let sample = Sample.observer(1)
        let terms = ResponderTerms(implements: (0..<64).map { text + [$0] }, next: text)
        return [
            .key(KeyRecord(key: Sample.key(1).key, receipts: [], reports: [rows])),
            .key(Sample.key(1)),
            .observer(
                ObserverRecord(
                    serial: 1, client: 1, tokenHash: sample.tokenHash, name: nil, object: text,
                    selector: text, terms: sample.terms, since: 0, createdAt: 0,
                    acknowledgedThrough: 0, forgottenThrough: 0, role: .responder(terms))),
            .observerRemoved(serial: 1, Sample.tombstone(1)),
            .observerRemoved(serial: 2, Sample.tombstone(2, names: terms.implements.suffix(32))),
            .ask(Sample.ask(1, byteCount: 600_000)),
            .ask(Sample.ask(1, shown: Array(1...20_000), byteCount: 600_000)),
            .ask(Sample.ask(1, isOpen: false, byteCount: 600_000)), .askForgotten(Sample.id(1)),
        ]
    }()

    @Test("a change with much text adds no more to the log than its weight says")
    func longTexts() throws {
        var file = try open()
        try file.commit([Self.center])
        for change in Self.longChanges {
            let batch = StoreBatch(
                loop: 0, ticket: 0, changes: [.center(name: Self.name, change)])
            try file.shortenLog()
            try file.commit(batch.changes)
            let byteCount = file.connection.logPageCount * StoreChange.frameByteCount
            #expect(byteCount <= batch.weight + StoreWorker<StoreFile>.reserveByteCount)
        }
    }

    @Test("the names of a tombstone count for the weight of its removal")
    func weightOfNames() {
        func weight(_ names: [[UInt8]]) -> Int {
            let removal = Change.observerRemoved(serial: 2, Sample.tombstone(2, names: names))
            return StoreBatch(loop: 0, ticket: 0, changes: [.center(name: Self.name, removal)])
                .weight
        }
        let names = (0..<32).map { [UInt8](repeating: 97, count: 1_000) + [$0] }
        #expect(weight(names) >= weight([]) + 32_000)
    }

    @Test(
        "removing observers makes the main file grow no more than their batch says",
        arguments: [20, 900])
    func growth(nameByteCount: Int) throws {
        var file = try open()
        let name = [UInt8](repeating: 97, count: nameByteCount)
        func tombstone(_ serial: UInt64) -> Tombstone {
            Tombstone(
                tokenHash: Sample.hash(serial), removedAt: Int64(serial),
                removedBy: .principal(Sample.bytes("somebody")), reason: .clientRemoved, name: name,
                object: name)
        }
        func record(_ serial: UInt64) -> ObserverRecord {
            let sample = Sample.observer(serial)
            return ObserverRecord(
                serial: serial, client: 1 + serial % 7, tokenHash: sample.tokenHash, name: name,
                object: name, selector: sample.selector, terms: sample.terms, since: 0,
                createdAt: 0, acknowledgedThrough: 0, forgottenThrough: 0)
        }
        let serials = 1...UInt64(7_000)
        try file.commit([
            Self.center, .center(name: Self.name, changes: serials.map { .observer(record($0)) }),
        ])
        try file.shortenLog()
        let before = try directory.bytes(of: "belfry.db").count
        // Every seventh: no page of the observers' table becomes free.
        let removed = serials.filter { $0 % 7 == 3 }
        let batch = StoreBatch(
            loop: 0, ticket: 0,
            changes: [
                .center(
                    name: Self.name,
                    changes: removed.map {
                        .observerRemoved(serial: $0, tombstone($0))
                    })
            ])
        try file.commit(batch.changes)
        try file.shortenLog()
        let growth = try directory.bytes(of: "belfry.db").count - before
        #expect(growth <= batch.growth + StoreWorker<StoreFile>.reserveByteCount)
    }

    @Test("opening tells all that is kept, and how much of it was read: in the check, and after it")
    func telling() throws {
        var source = ChangeSource(seed: 3)
        do {
            var file = try open()
            for _ in 0..<10 { try file.commit(source.batch(500)) }
            try file.close()
        }
        var image = StoreImage()
        var percents: [Int] = []
        var file = try StoreFile(
            directory: directory.path, durability: .process, progress: { percents.append($0) },
            telling: { image.take($0) })
        image.dropStrays()
        #expect(try file.load() == image)
        #expect(!image.centers.isEmpty)
        #expect(percents == percents.sorted())
        #expect(percents.contains { $0 > 0 && $0 < 25 })
        #expect(percents.contains { $0 > 25 && $0 < 100 })
    }
}
