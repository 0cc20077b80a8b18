internal import BelfryCenter

/// The clients of all centers.
struct ClientRows {
    /// The values of the column `is_asked`: whether the client has asked for suspension.
    private enum Suspension: Int64 {
        case none = 0
        case asked = 1
        /// The client has ended its suspension, and was not told its losses yet.
        case ended = 2

        init(_ record: ClientRecord) {
            self = record.isAsked ? .asked : record.wasAsked ? .ended : .none
        }
    }

    private let putter: Statement
    private let remover: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT OR REPLACE INTO client (
                center, id, transport, session_hash, principal, is_asked, connected_at,
                disconnected_for, immediate_through, written_through, written_is_shared, checksum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            """)
        remover = try connection.prepare("DELETE FROM client WHERE center = ?1 AND id = ?2")
    }

    func put(_ record: ClientRecord, center: Int64) throws(StoreError) {
        putter.bind(center)
        putter.bind(record.id)
        putter.bind(Int64(record.transport.rawValue))
        putter.bind(record.sessionHash)
        putter.bind(record.principal)
        putter.bind(Suspension(record).rawValue)
        putter.bind(record.connectedAt)
        putter.bind(record.disconnectedFor)
        putter.bind(record.immediateThrough)
        putter.bind(record.lastWritten.map { Int64(bitPattern: $0.sequence) })
        putter.bind(record.lastWritten?.isShared ?? false)
        putter.bindChecksum()
        try putter.run()
    }

    func remove(_ id: UInt64, center: Int64) throws(StoreError) {
        remover.bind(center)
        remover.bind(id)
        try remover.run()
    }

    /// Reads the columns behind the center.
    static func read(_ row: inout StatementRow) -> ClientRecord? {
        let id = row.unsigned()
        guard let transport = Transport(rawValue: UInt8(clamping: row.integer())),
            let hash = row.hash()
        else { return nil }
        let principal = row.bytes()
        guard let suspension = Suspension(rawValue: row.integer()) else { return nil }
        let connectedAt = row.integer()
        let disconnectedFor = row.integer()
        return ClientRecord(
            id: id, transport: transport, sessionHash: hash, principal: principal,
            isAsked: suspension == .asked, wasAsked: suspension != .none,
            connectedAt: connectedAt, disconnectedFor: disconnectedFor,
            immediateThrough: row.unsigned(), lastWritten: lastWritten(&row))
    }

    private static func lastWritten(_ row: inout StatementRow) -> LastWritten? {
        let sequence = row.optionalInteger()
        let isShared = row.bool()
        return sequence.map {
            LastWritten(sequence: UInt64(bitPattern: $0), isShared: isShared)
        }
    }
}
