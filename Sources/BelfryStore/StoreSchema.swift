/// The tables of the main file, and how earlier ones become the present ones.
enum StoreSchema {
    /// The `PRAGMA application_id` of the store's files: "Blfy".
    static let applicationID: UInt32 = 0x426C_6679

    /// The same of a backup, until a broker has started with it: "Blfb".
    static let backupID: UInt32 = 0x426C_6662

    /// The size of a page of the main file, in bytes.
    static let pageByteCount = 4_096

    /// The number of the present schema, which `PRAGMA user_version` has.
    static let version = steps.count

    /// The first version whose rows have checksums.
    static let checksumVersion = 3

    /// The steps from each version to the next; the first one begins with an empty file.
    ///
    /// A released step is never changed. Tables without a row id are in the order of their primary
    /// keys, so appended rows mostly share a page: held notifications are ordered by their sequence
    /// numbers and not by observers, for a post has many holders.
    static let steps: [[String]] = [
        [
            "CREATE TABLE setting (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
            """
            CREATE TABLE center (
                id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, epoch BLOB NOT NULL,
                sequence INTEGER NOT NULL)
            """,
            """
            CREATE TABLE client (
                center INTEGER NOT NULL, id INTEGER NOT NULL, transport INTEGER NOT NULL,
                session_hash BLOB NOT NULL, principal BLOB NOT NULL, is_asked INTEGER NOT NULL,
                connected_at INTEGER NOT NULL, disconnected_for INTEGER NOT NULL,
                PRIMARY KEY (center, id)) WITHOUT ROWID
            """,
            """
            CREATE TABLE observer (
                center INTEGER NOT NULL, serial INTEGER NOT NULL, client INTEGER NOT NULL,
                token_hash BLOB NOT NULL, name BLOB, object BLOB, selector BLOB NOT NULL,
                behavior INTEGER NOT NULL, acknowledges INTEGER NOT NULL,
                ends_with_connection INTEGER NOT NULL, hold_limit INTEGER NOT NULL,
                min_interval INTEGER NOT NULL, lease INTEGER, since INTEGER NOT NULL,
                created_at INTEGER NOT NULL, acknowledged_through INTEGER NOT NULL,
                PRIMARY KEY (center, serial)) WITHOUT ROWID
            """,
            "CREATE INDEX observer_of_client ON observer (center, client)",
            """
            CREATE TABLE tombstone (
                place INTEGER PRIMARY KEY, center INTEGER NOT NULL, serial INTEGER NOT NULL,
                token_hash BLOB NOT NULL, removed_at INTEGER NOT NULL, by_client INTEGER,
                by_principal BLOB, reason INTEGER NOT NULL, name BLOB, object BLOB)
            """,
            """
            CREATE TABLE notification (
                center INTEGER NOT NULL, sequence INTEGER NOT NULL, id BLOB NOT NULL,
                posted_at INTEGER NOT NULL, caused_by BLOB, time_to_live INTEGER,
                name BLOB NOT NULL, object BLOB, user_info BLOB,
                PRIMARY KEY (center, sequence)) WITHOUT ROWID
            """,
            """
            CREATE TABLE held (
                center INTEGER NOT NULL, sequence INTEGER NOT NULL, observer INTEGER NOT NULL,
                PRIMARY KEY (center, sequence, observer)) WITHOUT ROWID
            """,
            """
            CREATE TABLE gap (
                center INTEGER NOT NULL, observer INTEGER NOT NULL, reason INTEGER NOT NULL,
                lost INTEGER, first INTEGER NOT NULL, last INTEGER NOT NULL,
                PRIMARY KEY (center, observer, reason)) WITHOUT ROWID
            """,
            """
            CREATE TABLE queue (
                center INTEGER NOT NULL, id BLOB NOT NULL, place INTEGER NOT NULL,
                caused_by BLOB, depth INTEGER NOT NULL, style INTEGER NOT NULL,
                coalescing INTEGER NOT NULL, modes BLOB NOT NULL, merged INTEGER NOT NULL,
                enqueued_at INTEGER NOT NULL, delay_left INTEGER, time_to_live INTEGER,
                is_immediate INTEGER NOT NULL, name BLOB NOT NULL, object BLOB, user_info BLOB,
                PRIMARY KEY (center, id)) WITHOUT ROWID
            """,
            """
            CREATE TABLE key (
                place INTEGER PRIMARY KEY, center INTEGER NOT NULL, principal BLOB NOT NULL,
                text BLOB NOT NULL, request_hash BLOB NOT NULL, form INTEGER NOT NULL,
                answer BLOB NOT NULL, UNIQUE (center, principal, text))
            """,
        ],
        [
            "ALTER TABLE observer ADD COLUMN forgotten_through INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE client ADD COLUMN immediate_through INTEGER NOT NULL DEFAULT 0",
            // Notifications that were held for an observer with immediate delivery (3) were written
            // so far.
            """
            UPDATE client SET immediate_through = found.sequence
            FROM (
                SELECT observer.center, observer.client, max(held.sequence) AS sequence
                FROM held CROSS JOIN observer
                    ON observer.center = held.center AND observer.serial = held.observer
                WHERE observer.behavior = 3
                GROUP BY observer.center, observer.client) AS found
            WHERE client.center = found.center AND client.id = found.client
            """,
        ],
        [
            // The last number written to a client; it is unknown for clients of earlier versions.
            "ALTER TABLE client ADD COLUMN written_through INTEGER",
            "ALTER TABLE client ADD COLUMN written_is_shared INTEGER NOT NULL DEFAULT 0",
        ] + checksumStep,
        [
            "ALTER TABLE observer ADD COLUMN implements BLOB",
            "ALTER TABLE observer ADD COLUMN next BLOB",
            "ALTER TABLE observer ADD COLUMN if_held INTEGER",
            "ALTER TABLE observer ADD COLUMN concurrency INTEGER",
            // A checksum that was wrong stays as wrong as it was.
            """
            UPDATE observer SET checksum = checksum
                - belfry_checksum(\(checkedColumns(of: 3, .observer).columns))
                + belfry_checksum(\(checkedColumns(of: 4, .observer).columns))
            """,
            """
            CREATE TABLE ask (
                place INTEGER PRIMARY KEY, center INTEGER NOT NULL, id BLOB NOT NULL,
                caused_by BLOB, depth INTEGER NOT NULL, fallback BLOB, is_once INTEGER NOT NULL,
                asked_at INTEGER NOT NULL, answer_by INTEGER NOT NULL, principal BLOB NOT NULL,
                shown BLOB NOT NULL, observer INTEGER NOT NULL, outcome BLOB,
                forgotten_at INTEGER, name BLOB NOT NULL, object BLOB, user_info BLOB,
                checksum INTEGER NOT NULL, UNIQUE (center, id))
            """,
        ],
        [
            "ALTER TABLE observer ADD COLUMN target BLOB",
            "ALTER TABLE observer ADD COLUMN key_path BLOB",
            "ALTER TABLE observer ADD COLUMN value_flags INTEGER",
            """
            UPDATE observer SET checksum = checksum
                - belfry_checksum(\(checkedColumns(of: 4, .observer).columns))
                + belfry_checksum(\(checkedColumns(of: 5, .observer).columns))
            """,
            """
            CREATE TABLE action (
                center INTEGER NOT NULL, sequence INTEGER NOT NULL, row INTEGER NOT NULL,
                responder INTEGER NOT NULL, selector BLOB NOT NULL,
                acknowledges INTEGER NOT NULL, path BLOB NOT NULL, shown BLOB NOT NULL,
                checksum INTEGER NOT NULL,
                PRIMARY KEY (center, sequence, row)) WITHOUT ROWID
            """,
            // Posts that enter the queue later.
            """
            CREATE TABLE timer (
                center INTEGER NOT NULL, id BLOB NOT NULL, caused_by BLOB, depth INTEGER NOT NULL,
                posted_at INTEGER NOT NULL, due_at INTEGER, is_restored INTEGER NOT NULL,
                style INTEGER NOT NULL,
                coalescing INTEGER NOT NULL, keeps_latest INTEGER NOT NULL, modes BLOB NOT NULL,
                max_delay INTEGER, time_to_live INTEGER, is_immediate INTEGER NOT NULL,
                delay INTEGER, scope BLOB, client INTEGER, principal BLOB,
                has_key INTEGER NOT NULL, period INTEGER, start_at INTEGER, next INTEGER,
                fired INTEGER, missed INTEGER, last_made INTEGER, lease_left INTEGER,
                name BLOB NOT NULL, object BLOB, user_info BLOB, checksum INTEGER NOT NULL,
                PRIMARY KEY (center, id)) WITHOUT ROWID
            """,
            """
            CREATE TABLE value (
                center INTEGER NOT NULL, object BLOB NOT NULL, document BLOB NOT NULL,
                changed INTEGER NOT NULL, changed_at INTEGER NOT NULL, parts BLOB NOT NULL,
                checksum INTEGER NOT NULL, PRIMARY KEY (center, object)) WITHOUT ROWID
            """,
        ],
        // No column: settings have the key of the tags, parts of values say for how long they were
        // to last, and timers that are no farewells have a delay.
        [],
    ]

    /// A table with the columns of its checksums, in their order, and the columns of its order.
    ///
    /// The place of a tombstone, ask or key is left out: rows are only read in its order, which is
    /// checked.
    typealias CheckedColumns = (table: StoreError.Table, columns: String, order: [String])

    /// All tables of the present version.
    static let checkedColumns = checkedColumns(of: version)

    /// All tables of a version whose rows have checksums.
    static func checkedColumns(of version: Int) -> [CheckedColumns] {
        var found = columnsOfVersion3
        for (first, added) in addedColumns where first <= version {
            if let index = found.firstIndex(where: { $0.table == added.table }) {
                found[index].columns += ", " + added.columns
            } else {
                found.append(added)
            }
        }
        return found
    }

    /// One table of a version that has it.
    static func checkedColumns(
        of version: Int = version, _ table: StoreError.Table
    ) -> CheckedColumns {
        guard let row = checkedColumns(of: version).first(where: { $0.table == table }) else {
            preconditionFailure("each table has checksums")
        }
        return row
    }

    /// The columns or tables that each version adds to the one before.
    private static let addedColumns: [(version: Int, table: CheckedColumns)] = [
        (4, (.observer, "implements, next, if_held, concurrency", [])),
        (
            4,
            (
                .ask,
                """
                center, id, caused_by, depth, fallback, is_once, asked_at, answer_by, principal,
                shown, observer, outcome, forgotten_at, name, object, user_info
                """, ["place"]
            )
        ),
        (5, (.observer, "target", [])), (5, (.observer, "key_path, value_flags", [])),
        (
            5,
            (
                .action, "center, sequence, row, responder, selector, acknowledges, path, shown",
                ["center", "sequence", "row"]
            )
        ),
        (
            5,
            (
                .timer,
                """
                center, id, caused_by, depth, posted_at, due_at, is_restored, style, coalescing,
                keeps_latest, modes, max_delay, time_to_live, is_immediate, delay, scope, client, \
                principal,
                has_key, period, start_at, next, fired, missed, last_made, lease_left, name, \
                object, user_info
                """, ["center", "id"]
            )
        ),
        (
            5,
            (
                .value, "center, object, document, changed, changed_at, parts",
                ["center", "object"]
            )
        ),
    ]

    /// The columns of the first version whose rows have checksums.
    private static let columnsOfVersion3: [CheckedColumns] = [
        (.setting, "name, value", ["name"]), (.center, "id, name, epoch, sequence", ["id"]),
        (
            .client,
            """
            center, id, transport, session_hash, principal, is_asked, connected_at,
            disconnected_for, immediate_through, written_through, written_is_shared
            """, ["center", "id"]
        ),
        (
            .observer,
            """
            center, serial, client, token_hash, name, object, selector, behavior, acknowledges,
            ends_with_connection, hold_limit, min_interval, lease, since, created_at,
            acknowledged_through, forgotten_through
            """, ["center", "serial"]
        ),
        (
            .tombstone,
            """
            center, serial, token_hash, removed_at, by_client, by_principal, reason, name, object
            """, ["place"]
        ),
        (
            .notification,
            """
            center, sequence, id, posted_at, caused_by, time_to_live, name, object, user_info
            """, ["center", "sequence"]
        ),
        (.held, "center, sequence, observer", ["center", "sequence", "observer"]),
        (
            .gap, "center, observer, reason, lost, first, last",
            ["center", "observer", "reason"]
        ),
        (
            .queue,
            """
            center, id, place, caused_by, depth, style, coalescing, modes, merged, enqueued_at,
            delay_left, time_to_live, is_immediate, name, object, user_info
            """, ["center", "id"]
        ),
        (.key, "center, principal, text, request_hash, form, answer", ["place"]),
    ]

    /// Reads a table in the order of its rows: the columns that its checksums are of, and these.
    static func query(for row: CheckedColumns) -> String {
        let order = row.order.joined(separator: ", ")
        return """
            SELECT \(row.columns), checksum FROM \(row.table.rawValue) NOT INDEXED ORDER BY \(order)
            """
    }

    /// The tables whose rows are in the order of centers, and checked while they are loaded.
    static let walkedTables: Set<StoreError.Table> = [
        .client, .observer, .notification, .held, .action, .gap, .value,
    ]

    /// Version 3: each row has a checksum of its other columns.
    private static let checksumStep = columnsOfVersion3.flatMap { table, columns, _ in
        [
            "ALTER TABLE \(table.rawValue) ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
            "UPDATE \(table.rawValue) SET checksum = belfry_checksum(\(columns))",
        ]
    }
}
