import BelfryCenter
import Foundation
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
            of: try directory.bytes(of: "belfry.db"), .damaged(.brokenStructure(code: 1)))
    }

    @Test(
        "a row that the store never writes is damage",
        arguments: [
            ("UPDATE client SET transport = 9", .client),
            ("UPDATE observer SET behavior = 9", .observer),
            ("UPDATE observer SET token_hash = x'00'", .observer),
            ("UPDATE tombstone SET reason = 9", .tombstone),
            ("UPDATE notification SET id = x'00'", .notification),
            ("UPDATE gap SET reason = reason + 9", .gap),
            ("UPDATE queue SET style = 9", .queue), ("UPDATE queue SET modes = x'05'", .queue),
            ("UPDATE key SET answer = x'02'", .key), ("UPDATE key SET answer = x''", .key),
        ] as [(String, StoreError.Table)])
    func rows(_ text: String, _ table: StoreError.Table) throws {
        var file = try StoreFile(directory: directory.path, durability: .process)
        try file.connection.execute(text)
        #expect(throws: StoreError.damaged(.brokenRow(table))) { _ = try file.load() }
    }

    @Test("an answer of another version, or with a part missing, is no answer")
    func answers() {
        let record = Sample.key(3)
        let answer = BlobWriter.answer(of: record)
        #expect(answer.first == 1)
        #expect(BlobReader.record(of: record.key, answer: answer) == record)
        #expect(BlobReader.record(of: record.key, answer: [2] + answer[1...]) == nil)
        #expect(BlobReader.record(of: record.key, answer: answer + [0]) == nil)
        for count in answer.indices {
            #expect(BlobReader.record(of: record.key, answer: Array(answer[..<count])) == nil)
        }
    }
}
