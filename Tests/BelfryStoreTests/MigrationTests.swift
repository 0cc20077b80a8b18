import BelfryCenter
import Foundation
import Testing

@testable import BelfryStore

/// Main files of earlier programs become those of the present one; nothing is lost on the way.
@Suite("StoreSchema: migrations")
struct MigrationTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open() throws -> StoreFile {
        try StoreFile(directory: directory.path, durability: .process)
    }

    /// Makes a main file as the program of a version left it, with rows of everything.
    ///
    /// - Parameter damage: what is done to a file of version 3 behind the back of the store.
    private func make(
        version: Int, inOrder: Bool, damage: String? = nil
    ) throws -> StoreImage {
        var file = try open()
        var source = ChangeSource(seed: 7, version: version)
        for _ in 0..<20 { try file.commit(source.batch(100)) }
        let image = try file.load()
        if inOrder { try file.commit([.cleanEnd]) }
        if version < 5 { try dropVersion5(of: file) }
        if version < 4 {
            try file.connection.execute("DROP TABLE ask")
            for column in ["implements", "next", "if_held", "concurrency"] {
                try file.connection.execute("ALTER TABLE observer DROP COLUMN \(column)")
            }
        }
        try file.connection.execute("PRAGMA user_version = \(version)")
        if version >= 3 {
            let columns = StoreSchema.checkedColumns(of: version, .observer).columns
            try file.connection.execute(
                "UPDATE observer SET checksum = belfry_checksum(\(columns))")
            if let damage { try file.connection.execute(damage) }
            try file.shortenLog()
            return image
        }
        for column in ["written_through", "written_is_shared"] {
            try file.connection.execute("ALTER TABLE client DROP COLUMN \(column)")
        }
        for (table, _, _) in StoreSchema.checkedColumns(of: 3) {
            try file.connection.execute("ALTER TABLE \(table.rawValue) DROP COLUMN checksum")
        }
        if version == 1 {
            for text in [
                "ALTER TABLE observer DROP COLUMN forgotten_through",
                "ALTER TABLE client DROP COLUMN immediate_through",
            ] { try file.connection.execute(text) }
        }
        return withoutWritten(image)
    }

    /// Takes out what version 4 has not.
    private func dropVersion5(of file: borrowing StoreFile) throws {
        try file.connection.execute("DROP TABLE action")
        for table in ["timer", "value"] {
            try file.connection.execute("DROP TABLE \(table)")
        }
        for column in ["target", "key_path", "value_flags"] {
            try file.connection.execute("ALTER TABLE observer DROP COLUMN \(column)")
        }
    }

    /// Only version 3 knows what a client was written last.
    private func withoutWritten(_ image: StoreImage) -> StoreImage {
        var image = image
        for index in image.centers.indices {
            image.centers[index].clients = image.centers[index].clients.map { old in
                ClientRecord(
                    id: old.id, transport: old.transport, sessionHash: old.sessionHash,
                    principal: old.principal, isAsked: old.isAsked, wasAsked: old.wasAsked,
                    connectedAt: old.connectedAt, disconnectedFor: old.disconnectedFor,
                    immediateThrough: old.immediateThrough)
            }
        }
        return image
    }

    /// The part of an image that a migrated file must have.
    private func migrated(_ image: StoreImage) -> StoreImage {
        var image = image
        image.incarnation += 1
        for index in image.centers.indices {
            let center = image.centers[index]
            image.centers[index].observers = center.observers.map { old in
                ObserverRecord(
                    serial: old.serial, client: old.client, tokenHash: old.tokenHash,
                    name: old.name, object: old.object, selector: old.selector, terms: old.terms,
                    since: old.since, createdAt: old.createdAt,
                    acknowledgedThrough: old.acknowledgedThrough, forgottenThrough: 0)
            }
            image.centers[index].clients = center.clients.map { old in
                let immediate = center.observers.filter {
                    $0.client == old.id && $0.terms.suspensionBehavior == .deliverImmediately
                }.map(\.serial)
                let last = center.held.filter { immediate.contains($0.observer) }.map(\.sequence)
                return ClientRecord(
                    id: old.id, transport: old.transport, sessionHash: old.sessionHash,
                    principal: old.principal, isAsked: old.isAsked, wasAsked: old.wasAsked,
                    connectedAt: old.connectedAt, disconnectedFor: old.disconnectedFor,
                    immediateThrough: last.max() ?? 0)
            }
        }
        return image
    }

    @Test("versions 2 to 5 become version 6, whose rows have checksums", arguments: [2, 3, 4, 5])
    func laterVersions(_ version: Int) throws {
        var expected = try make(version: version, inOrder: true)
        expected.incarnation += 1
        let observers = expected.centers.flatMap(\.observers)
        let responderCount = observers.count {
            if case .responder = $0.role { true } else { false }
        }
        #expect(responderCount < observers.count)
        if version == 4 {
            #expect(responderCount > 0)
            let asks = expected.centers.flatMap(\.asks)
            #expect(asks.contains { $0.end == nil } && asks.contains { $0.end != nil })
        }
        do {
            var file = try open()
            #expect(try file.connection.integer("PRAGMA user_version") == 6)
            #expect(try file.load() == expected)
            #expect(try RowCheck.changedRows(file.connection).isEmpty)
        }
        // The next start reads all of them.
        _ = try open()
    }

    @Test("a migration hides no damage, and leaves out what is damaged where that is accepted")
    func damaged() throws {
        let whole = try make(
            version: 3, inOrder: true,
            damage: """
                UPDATE observer SET since = since + 1
                WHERE serial = (SELECT min(serial) FROM observer)
                """)
        let bytes = try directory.bytes(of: "belfry.db")
        #expect(throws: StoreError.damaged(.changedRows([.observer: 1]))) { _ = try open() }
        #expect(try directory.bytes(of: "belfry.db") == bytes)
        var file = try StoreFile(
            directory: directory.path, durability: .process, acceptsDamage: true)
        #expect(file.losses.rows == [.observer: 1])
        let observers = try file.load().centers.map(\.observers)
        #expect(observers.joined().count == whole.centers.map(\.observers).joined().count - 1)
    }

    @Test("what can be read of a broken file of version 3 is kept, and migrated")
    func salvaged() throws {
        let whole = try make(version: 3, inOrder: true)
        let bytes = try directory.bytes(of: "belfry.db")
        let pageByteCount = StoreSchema.pageByteCount
        var kept = 0
        for page in 1..<bytes.count / pageByteCount {
            let copy = try TemporaryDirectory()
            var broken = bytes
            broken.replaceSubrange(
                page * pageByteCount..<(page + 1) * pageByteCount,
                with: [UInt8](repeating: 0, count: pageByteCount))
            try copy.write(broken, to: "belfry.db")
            var file = try StoreFile(
                directory: copy.path, durability: .process, acceptsDamage: true)
            #expect(try file.connection.integer("PRAGMA user_version") == 6)
            guard file.losses.savedRowCount != nil else { continue }
            let image = try file.load()
            kept += image.centers.reduce(0) { $0 + $1.observers.count }
            #expect(try RowCheck.changedRows(file.connection).isEmpty)
        }
        #expect(kept > whole.centers.reduce(0) { $0 + $1.observers.count })
    }

    @Test("version 1 becomes version 6, after an end in order and after kill -9")
    func firstVersion() throws {
        var expected = migrated(try make(version: 1, inOrder: true))
        #expect(expected.centers.contains { $0.clients.contains { $0.immediateThrough > 0 } })
        do {
            var file = try open()
            #expect(try file.connection.integer("PRAGMA user_version") == 6)
            let found = try file.load()
            #expect(found == expected)
        }
        expected.incarnation += 1
        expected.isComplete = false
        for index in expected.centers.indices { expected.centers[index].isComplete = false }
        var file = try open()
        let found = try file.load()
        #expect(found == expected)
    }

    @Test("a file that was migrated has the tables of a new one")
    func tables() throws {
        _ = try make(version: 1, inOrder: false)
        let columns = """
            SELECT group_concat(text, ';') FROM (
                SELECT s.name || '.' || c.name || ' ' || c.type || c."notnull" || c.pk AS text
                FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
                WHERE s.type = 'table' ORDER BY s.name, c.cid)
            """
        let migrated = try open().connection.bytes(columns)
        let other = try TemporaryDirectory()
        let new = try StoreFile(directory: other.path, durability: .process)
        #expect(try new.connection.bytes(columns) == migrated)
        #expect(migrated.count > 1_000)
    }
}
