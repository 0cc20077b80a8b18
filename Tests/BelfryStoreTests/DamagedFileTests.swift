import BelfryCenter
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// A main file that is not what a store left is refused as it is.
@Suite("StoreFile: damage and other people's files")
struct DamagedFileTests {
    let directory: TemporaryDirectory
    /// The main file of a life that ended in order.
    let sound: [UInt8]

    init() throws {
        directory = try TemporaryDirectory()
        var source = ChangeSource(seed: 5)
        var file = try StoreFile(directory: directory.path, durability: .process)
        for _ in 0..<20 { try file.commit(source.batch(100)) }
        try file.close()
        sound = try directory.bytes(of: "belfry.db")
    }

    func open() throws -> StoreImage {
        var file = try StoreFile(directory: directory.path, durability: .process)
        return try file.load()
    }

    /// Opens a main file of these bytes, which must be refused and left as they are.
    func expectRefusal(
        of bytes: [UInt8], _ error: StoreError? = nil, log: [UInt8]? = nil
    ) throws {
        try directory.write(bytes, to: "belfry.db")
        if let log { try directory.write(log, to: "belfry.db-wal") }
        if let error {
            #expect(throws: error) { _ = try open() }
        } else {
            #expect(throws: StoreError.self) { _ = try open() }
        }
        #expect(try directory.bytes(of: "belfry.db") == bytes)
    }

    func changed(_ bytes: [UInt8], at offset: Int, to new: [UInt8]) -> [UInt8] {
        Array(bytes[..<offset]) + new + Array(bytes[(offset + new.count)...])
    }

    @Test("a later schema is refused by its number")
    func newerSchema() throws {
        let version = StoreSchema.version
        try expectRefusal(
            of: changed(sound, at: 60, to: [0, 0, 0, UInt8(version + 1)]),
            .newerSchema(found: version + 1, supported: version))
        #expect(!directory.has("belfry.db-wal"))
    }

    @Test("a later schema that only the log knows is refused, and log and file stay")
    func newerSchemaInLog() throws {
        let version = StoreSchema.version
        do {
            let file = try StoreFile(directory: directory.path, durability: .process)
            try file.connection.execute("PRAGMA user_version = \(version + 1)")
        }
        let log = try directory.bytes(of: "belfry.db-wal")
        try expectRefusal(
            of: try directory.bytes(of: "belfry.db"),
            .newerSchema(found: version + 1, supported: version))
        #expect(try directory.bytes(of: "belfry.db-wal") == log)
    }

    @Test("an earlier schema is refused by its number", arguments: 1..<StoreSchema.version)
    func olderSchema(version: Int) throws {
        let error = StoreError.olderSchema(found: version, supported: StoreSchema.version)
        let bytes = changed(sound, at: 60, to: [0, 0, 0, UInt8(version)])
        try expectRefusal(of: bytes, error)
        #expect(throws: error) {
            _ = try StoreFile(
                directory: directory.path, durability: .process, acceptsDamage: true)
        }
        #expect(try directory.bytes(of: "belfry.db") == bytes)
        #expect(!directory.has("belfry.db-wal"))
    }

    @Test("another application's database is refused by its number")
    func otherApplication() throws {
        try expectRefusal(
            of: changed(sound, at: 68, to: [0, 0, 1, 2]), .damaged(.otherApplication(0x102)))
        #expect(!directory.has("belfry.db-wal"))
    }

    @Test(
        "a damaged header is refused",
        arguments: [
            (0, [0x73], .noDatabase), (15, [1], .noDatabase), (16, [0x08], .otherForm),
            (18, [1], .otherForm), (19, [1], .otherForm), (60, [0, 0, 0, 0], .otherForm),
            (28, [0x10], .missingPages),
        ] as [(Int, [UInt8], StoreError.Damage)])
    func header(_ offset: Int, _ bytes: [UInt8], _ damage: StoreError.Damage) throws {
        try expectRefusal(of: changed(sound, at: offset, to: bytes), .damaged(damage))
    }

    @Test("an empty file and a file of zeros are no database", arguments: [0, 1, 99, 100, 8_192])
    func zeros(_ byteCount: Int) throws {
        try expectRefusal(of: [UInt8](repeating: 0, count: byteCount), .damaged(.noDatabase))
    }

    @Test("a file that was cut off is refused, wherever")
    func truncated() throws {
        for byteCount in [100, 511, 512, 4_096, 8_192, sound.count - 4_096, sound.count - 1] {
            try expectRefusal(of: Array(sound[..<byteCount]), .damaged(.missingPages))
        }
    }

    @Test("any page that is overwritten is refused, or what is left can be read")
    func pages() throws {
        var refusals = 0
        let pageCount = sound.count / StoreSchema.pageByteCount
        for page in 0..<pageCount {
            let offset = page * StoreSchema.pageByteCount
            let garbage = (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ page) }
            let bytes = changed(sound, at: offset, to: garbage)
            try directory.write(bytes, to: "belfry.db")
            do {
                _ = try open()
            } catch is StoreError {
                refusals += 1
                #expect(try directory.bytes(of: "belfry.db") == bytes)
            }
            if directory.has("belfry.db-wal") { try directory.remove("belfry.db-wal") }
        }
        // Only pages on the list of free ones can be missed.
        #expect(refusals > pageCount * 3 / 4)
    }

    @Test("a byte that is changed is found, or changes nothing that is kept", arguments: 1...4)
    func flips(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        try directory.write(sound, to: "belfry.db")
        let whole = Self.content(of: try open())
        var refusals = 0
        for _ in 0..<40 {
            let offset = random.below(sound.count)
            let byte = sound[offset] ^ UInt8(1 << random.below(8))
            let bytes = changed(sound, at: offset, to: [byte])
            try directory.write(bytes, to: "belfry.db")
            if directory.has("belfry.db-wal") { try directory.remove("belfry.db-wal") }
            if directory.has("belfry.lock") { try directory.remove("belfry.lock") }
            do {
                #expect(Self.content(of: try open()) == whole, "at \(offset)")
            } catch is StoreError {
                refusals += 1
                #expect(try directory.bytes(of: "belfry.db") == bytes)
                #expect(!directory.has("belfry.db-wal") || isEmptyLog)
            }
        }
        #expect(refusals > 10)
    }

    @Test("of a file with a broken page the rest is kept where that is accepted, and the file too")
    func salvage() throws {
        try directory.write(sound, to: "belfry.db")
        let whole = try open()
        let pageByteCount = StoreSchema.pageByteCount
        var kept = 0
        for page in 0..<sound.count / pageByteCount {
            let copy = try TemporaryDirectory()
            let zeros = [UInt8](repeating: 0, count: pageByteCount)
            let bytes = changed(sound, at: page * pageByteCount, to: zeros)
            try copy.write(bytes, to: "belfry.db")
            var file = try StoreFile(
                directory: copy.path, durability: .process, acceptsDamage: true)
            let image = try file.load()
            // A page on the list of free ones may be lost unnoticed.
            guard file.losses.savedRowCount != nil else { continue }
            #expect(image.isCopied && !image.isComplete)
            #expect(try copy.bytes(of: "belfry.db.damaged") == bytes)
            for center in image.centers {
                let original = try #require(whole.centers.first { $0.name == center.name })
                #expect(center.notifications.allSatisfy { original.notifications.contains($0) })
                #expect(center.observers.allSatisfy { original.observers.contains($0) })
                kept += center.notifications.count
            }
        }
        #expect(kept > whole.centers.reduce(0) { $0 + $1.notifications.count })
    }

    private var isEmptyLog: Bool { (try? directory.bytes(of: "belfry.db-wal"))?.isEmpty == true }

    /// The stored content without the parts that each life changes.
    private static func content(of image: StoreImage) -> StoreImage {
        var image = image
        image.incarnation = 0
        image.isComplete = false
        image.isCopied = false
        for index in image.centers.indices { image.centers[index].isComplete = false }
        return image
    }

    @Test(
        "changed rows are counted by table, and are lost only where that is accepted",
        arguments: [
            ("UPDATE notification SET record = x'00'", .notification),
            ("UPDATE held SET observer = observer + 1000000", .held),
            ("UPDATE observer SET record = x'00'", .observer),
            ("UPDATE observer SET client = client + 1000000", .observer),
            ("UPDATE action SET row = row + 1000000", .action),
            ("UPDATE gap SET record = x''", .gap),
            ("UPDATE tombstone SET record = record || x'00'", .tombstone),
            ("UPDATE timer SET record = substr(record, 2)", .timer),
            ("UPDATE ask SET record = x'00'", .ask), ("UPDATE key SET text = text || 'x'", .key),
            ("UPDATE value SET record = x'00'", .value),
            ("UPDATE queue SET place = 987654321", .queue),
            ("UPDATE client SET record = 7", .client),
            ("UPDATE center SET sequence = 987654321", .center),
            ("UPDATE setting SET value = 987654321", .setting),
        ] as [(String, StoreError.Table)])
    func changedRows(_ text: String, _ table: StoreError.Table) throws {
        let count: Int
        do {
            var file = try StoreFile(directory: directory.path, durability: .process)
            try file.connection.execute(text)
            count = file.connection.changedRowCount
            try file.shortenLog()
        }
        #expect(count > 0)
        let bytes = try directory.bytes(of: "belfry.db")
        #expect(throws: StoreError.damaged(.changedRows([table: count]))) { _ = try open() }
        #expect(try directory.bytes(of: "belfry.db") == bytes)
        do {
            var file = try StoreFile(
                directory: directory.path, durability: .process, acceptsDamage: true)
            #expect(file.losses.rows[table] == count)
            let image = try file.load()
            #expect(image.isCopied && !image.isComplete)
            #expect(image.observersReserved > 1 << 24)
        }
        // A loss is reported once.
        let next = try StoreFile(directory: directory.path, durability: .process)
        #expect(next.losses.isEmpty)
    }

    @Test(
        "rows of a center that is not there are checked too",
        arguments: [0, 1, 1_000], StoreSchema.tables.filter(\.isWalked).map(\.name))
    func strays(center: Int, table: StoreError.Table) throws {
        do {
            var file = try StoreFile(directory: directory.path, durability: .process)
            if center == 1 { try file.connection.execute("DELETE FROM center WHERE id = 1") }
            let columns = StoreSchema.table(table).columns.dropFirst().joined(separator: ", ")
            try file.connection.execute(
                """
                INSERT OR REPLACE INTO \(table.rawValue) (center, \(columns), checksum)
                SELECT \(center), \(columns), belfry_checksum(\(center), \(columns))
                FROM \(table.rawValue) WHERE center <> \(center) LIMIT 1
                """)
            try file.shortenLog()
        }
        _ = try open()
        let count: Int
        do {
            var file = try StoreFile(directory: directory.path, durability: .process)
            try file.connection.execute(
                """
                UPDATE \(table.rawValue) SET checksum = checksum + 1 WHERE center = \(center)
                """)
            count = file.connection.changedRowCount
            try file.shortenLog()
        }
        #expect(count > 0)
        let bytes = try directory.bytes(of: "belfry.db")
        #expect(throws: StoreError.damaged(.changedRows([table: count]))) { _ = try open() }
        #expect(try directory.bytes(of: "belfry.db") == bytes)
    }

    @Test("an index with other rows than its table is found, and made anew if that is accepted")
    func index() throws {
        do {
            let file = try StoreFile(directory: directory.path, durability: .process)
            for text in [
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_schema SET sql = sql || ' WHERE serial % 2' "
                    + "WHERE name = 'observer_of_client'",
                "PRAGMA writable_schema = RESET", "REINDEX",
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_schema SET sql = replace(sql, ' WHERE serial % 2', '') "
                    + "WHERE name = 'observer_of_client'",
                "PRAGMA writable_schema = RESET",
            ] { try file.connection.execute(text) }
        }
        #expect(throws: StoreError.damaged(.brokenIndex(.observer))) { _ = try open() }
        do {
            let file = try StoreFile(
                directory: directory.path, durability: .process, acceptsDamage: true)
            #expect(file.losses.isEmpty)
        }
        _ = try open()
    }

    @Test("a main file that is missing beside a log is no new store")
    func logWithoutFile() throws {
        try directory.remove("belfry.db")
        try directory.write([1], to: "belfry.db-wal")
        #expect(throws: StoreError.damaged(.missingPages)) { _ = try open() }
        #expect(!directory.has("belfry.db"))
    }

    @Test("a rollback journal is not the store's, and is not followed")
    func journal() throws {
        try directory.write([UInt8](repeating: 0xD9, count: 4_608), to: "belfry.db-journal")
        try expectRefusal(of: sound, .damaged(.otherForm))
        #expect(directory.has("belfry.db-journal"))
    }

    @Test("a table that is missing is damage")
    func missingTable() throws {
        do {
            let file = try StoreFile(directory: directory.path, durability: .process)
            try file.connection.execute("DROP TABLE gap")
        }
        try expectRefusal(
            of: try directory.bytes(of: "belfry.db"), .damaged(.brokenStructure(code: 0)))
    }

    @Test("a definition with a letter changed is damage, though SQLite reads it")
    func changedDefinition() throws {
        let definition = Array("CREATE TABLE key (place INTEGER PRIMARY".utf8)
        let start = try #require(
            sound.indices.first { sound[$0...].starts(with: definition) })
        // The place of a row would be a column of its own.
        try expectRefusal(
            of: changed(sound, at: start + 35, to: Array("L".utf8)),
            .damaged(.brokenStructure(code: 0)))
    }

    @Test(
        "a record that the store never writes is damage",
        arguments: StoreSchema.tables.filter { $0.kind != nil }.map(\.name),
        [
            "x''", "x'80'", "x'ffffffffffffffffff01'", "record || x'00'",
            "substr(record, 1, length(record) - 1)", "7",
        ])
    func records(_ table: StoreError.Table, _ record: String) throws {
        var file = try StoreFile(directory: directory.path, durability: .process)
        let columns = StoreSchema.table(table).checkedList
        for text in ["record = \(record)", "checksum = belfry_checksum(\(columns))"] {
            try file.connection.execute("UPDATE \(table.rawValue) SET \(text)")
            #expect(file.connection.changedRowCount > 0)
        }
        #expect(throws: StoreError.damaged(.brokenRow(table))) { _ = try file.load() }
    }
}
