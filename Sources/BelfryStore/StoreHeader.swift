/// The first bytes of a main file (sqlite.org/fileformat2, section 1.3), read without SQLite.
enum StoreHeader {
    /// How many bytes the header has.
    static let byteCount = 100

    /// Finds out whether a file can be a store's; `logByteCount` is the size of its log.
    static func check(
        _ header: [UInt8], byteCount: Int, logByteCount: Int
    ) throws(StoreError) {
        guard header.count == Self.byteCount, header.starts(with: "SQLite format 3\0".utf8) else {
            throw .damaged(.noDatabase)
        }
        let application = number(in: header, at: 68)
        if application != StoreSchema.applicationID, application != StoreSchema.backupID {
            throw .damaged(.otherApplication(application))
        }
        try check(version: Int(number(in: header, at: 60)))
        // The size of a page, then the versions that write and read a log.
        let pageByteCount = number(in: header, at: 16) >> 16
        guard pageByteCount == StoreSchema.pageByteCount, header[18] == 2, header[19] == 2 else {
            throw .damaged(.otherForm)
        }
        // With a log, pages may be there alone; SQLite finds out.
        let isWhole = byteCount.isMultiple(of: StoreSchema.pageByteCount)
        let pageCount = Int(number(in: header, at: 28))
        if logByteCount == 0, !isWhole || byteCount / StoreSchema.pageByteCount < pageCount {
            throw .damaged(.missingPages)
        }
    }

    /// Whether a file is a backup that was put back, and no broker has started with it.
    static func isBackup(_ header: [UInt8]) -> Bool {
        header.count == byteCount && number(in: header, at: 68) == StoreSchema.backupID
    }

    /// Finds out whether this program knows the schema.
    static func check(version: Int) throws(StoreError) {
        if version > StoreSchema.version {
            throw .newerSchema(found: version, supported: StoreSchema.version)
        }
        // A file gets its version before it gets its name.
        if version < 1 { throw .damaged(.otherForm) }
    }

    private static func number(in header: [UInt8], at offset: Int) -> UInt32 {
        header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
