// A copy of the store that is made while it is used (decision 52).

extension StoreFile {
    mutating func beginCopy() throws(StoreError) {
        let pageCount = Int(clamping: try connection.integer("PRAGMA page_count"))
        let file = try BackupFile(
            in: data.directory, path: data.path, byteCount: pageCount * StoreSchema.pageByteCount)
        do throws(StoreError) {
            backup = try StoreBackup(of: connection, into: file)
        } catch {
            try file.giveUp()
            throw error
        }
    }

    mutating func copyOn() throws(StoreError) -> BackupFile? {
        guard let underWay = backup.take() else { return nil }
        let isWhole: Bool
        do throws(StoreError) {
            isWhole = try underWay.goOn()
        } catch {
            try underWay.file.giveUp()
            throw error
        }
        if isWhole { return underWay.file }
        backup = consume underWay
        return nil
    }

    mutating func endCopy() throws(StoreError) {
        guard let underWay = backup.take() else { return }
        try underWay.file.giveUp()
    }
}
