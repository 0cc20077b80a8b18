internal import BelfryCenter

/// The clients of all centers.
struct ClientRows {
    private let putter: Statement
    private let remover: Statement
    private let reader: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT OR REPLACE INTO client (
                center, id, transport, session_hash, principal, is_asked, connected_at,
                disconnected_for, immediate_through, complete_through, checksum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """)
        remover = try connection.prepare("DELETE FROM client WHERE center = ?1 AND id = ?2")
        reader = try connection.prepare(
            """
            SELECT id, transport, session_hash, principal, is_asked, connected_at,
                disconnected_for, immediate_through, complete_through
            FROM client WHERE center = ?1 ORDER BY id
            """)
    }

    func put(_ record: ClientRecord, center: Int64) throws(StoreError) {
        putter.bind(center)
        putter.bind(record.id)
        putter.bind(Int64(record.transport.rawValue))
        putter.bind(record.sessionHash)
        putter.bind(record.principal)
        putter.bind(record.isAsked)
        putter.bind(record.connectedAt)
        putter.bind(record.disconnectedFor)
        putter.bind(record.immediateThrough)
        putter.bind(record.completeThrough.map { Int64(bitPattern: $0) })
        putter.bindChecksum()
        try putter.run()
    }

    func remove(_ id: UInt64, center: Int64) throws(StoreError) {
        remover.bind(center)
        remover.bind(id)
        try remover.run()
    }

    func load(center: Int64, _ tell: (ClientRecord) -> Void) throws(StoreError) {
        defer { reader.reset() }
        reader.bind(center)
        while try reader.next() { tell(try read()) }
    }

    private func read() throws(StoreError) -> ClientRecord {
        let id = reader.unsigned()
        guard let transport = Transport(rawValue: UInt8(clamping: reader.integer())),
            let hash = reader.hash()
        else { throw .damaged(.brokenRow(.client)) }
        let principal = reader.bytes()
        let isAsked = reader.bool()
        let connectedAt = reader.integer()
        let disconnectedFor = reader.integer()
        return ClientRecord(
            id: id, transport: transport, sessionHash: hash, principal: principal,
            isAsked: isAsked, connectedAt: connectedAt, disconnectedFor: disconnectedFor,
            immediateThrough: reader.unsigned(),
            completeThrough: reader.optionalInteger().map { UInt64(bitPattern: $0) })
    }
}
