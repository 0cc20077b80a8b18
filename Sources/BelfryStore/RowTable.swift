internal import BelfryCenter

/// The statements that change the rows of centers in one table.
struct RowTable {
    private let putter: Statement
    private let remover: Statement
    /// Removes rows that go together; nil where none do.
    private let groupRemover: Statement?

    init(_ name: StoreError.Table, _ connection: borrowing Connection) throws(StoreError) {
        let table = StoreSchema.table(name)
        putter = try connection.prepare(table.put)
        remover = try connection.prepare(table.removal(by: table.key))
        groupRemover =
            if let group = table.group {
                try connection.prepare(table.removal(by: ["center", group]))
            } else {
                nil
            }
    }

    /// Writes a row; its columns behind the center are bound in their order.
    func put(center: Int64, _ bind: (Statement) -> Void) throws(StoreError) {
        putter.bind(center)
        bind(putter)
        putter.bindChecksum()
        try putter.run()
    }

    /// Removes the row with a key, whose columns are bound in their order.
    func remove(center: Int64, _ bind: (Statement) -> Void) throws(StoreError) {
        remover.bind(center)
        bind(remover)
        try remover.run()
    }

    /// Removes all rows of a group.
    func removeGroup(_ value: UInt64, center: Int64) throws(StoreError) {
        guard let groupRemover else { preconditionFailure("the table has no groups") }
        groupRemover.bind(center)
        groupRemover.bind(value)
        try groupRemover.run()
    }
}
