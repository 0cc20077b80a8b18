internal import BelfryCenter

/// The actions that responders hold, or have got and not answered.
///
/// Their notifications have rows of their own.
struct ActionRows {
    private let putter: Statement
    private let remover: Statement
    private let allRemover: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            "INSERT OR REPLACE INTO action VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
        remover = try connection.prepare(
            "DELETE FROM action WHERE center = ?1 AND sequence = ?2 AND row = ?3")
        allRemover = try connection.prepare(
            "DELETE FROM action WHERE center = ?1 AND sequence = ?2")
    }

    func put(_ record: ActionRecord, center: Int64) throws(StoreError) {
        putter.bind(center)
        putter.bind(record.sequence)
        putter.bind(record.row)
        putter.bind(record.responder)
        putter.bind(record.selector)
        putter.bind(record.acknowledges)
        putter.bind(BlobWriter.texts(record.path))
        putter.bind(BlobWriter.serials(record.shown))
        putter.bindChecksum()
        try putter.run()
    }

    func remove(_ row: UInt64, _ sequence: UInt64, center: Int64) throws(StoreError) {
        remover.bind(center)
        remover.bind(sequence)
        remover.bind(row)
        try remover.run()
    }

    /// Removes the actions of a notification without holders, also those of removed responders.
    func removeAll(of sequence: UInt64, center: Int64) throws(StoreError) {
        allRemover.bind(center)
        allRemover.bind(sequence)
        try allRemover.run()
    }

    /// Reads the columns behind the center.
    static func read(_ row: inout StatementRow) -> ActionRecord? {
        let sequence = row.unsigned()
        let serial = row.unsigned()
        let responder = row.unsigned()
        let selector = row.bytes()
        let acknowledges = row.bool()
        let path = BlobReader.texts(row.bytes())
        let shown = BlobReader.serials(row.bytes())
        guard let path, let shown, !path.isEmpty else { return nil }
        return ActionRecord(
            sequence: sequence, row: serial, responder: responder, selector: selector,
            acknowledges: acknowledges, path: path, shown: shown)
    }
}
