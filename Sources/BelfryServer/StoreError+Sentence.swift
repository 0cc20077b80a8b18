import BelfryStore

extension StoreError {
    /// What is wrong, for the person who started the broker.
    var sentence: String {
        switch self {
        case .locked:
            "another process has it; one directory serves one broker"
        case .newerSchema(let found, let supported):
            "a later version of belfry has written it (form \(found), this one knows \(supported))"
        case .damaged(.changedRows(let rows)):
            "rows of it are not what a broker wrote, and nothing was changed: "
                + "\(Self.text(of: rows)); \(Self.advice)"
        case .damaged(.brokenLog(let pageCount, let commitCount)):
            "its log misses \(pageCount) pages of at least \(commitCount) commits that were "
                + "answered, and nothing was changed; \(Self.advice)"
        case .damaged(.brokenIndex(let table)):
            "the index of its table \(table.rawValue) is damaged, and nothing was changed; "
                + Self.advice
        case .damaged(let damage):
            "it is not what a broker left there, and was not changed (\(damage))"
        case .full:
            "the disk is full"
        case .failed(let code, let errno):
            "the store cannot be used (SQLite \(code), errno \(errno))"
        case .system(let error):
            "\(error)"
        case .displaced(let part):
            "\(part.rawValue) is not where it was opened"
        }
    }
}

extension StoreError {
    private static let advice =
        "put a backup back, or start with --accept-damage without what is lost"

    /// How many rows of which tables.
    static func text(of rows: [Table: Int]) -> String {
        Table.allCases.compactMap { table in rows[table].map { "\($0) of \(table.rawValue)" } }
            .joined(separator: ", ")
    }
}

extension ServerConfiguration.Durability {
    /// The same, as the store calls it.
    var ofStore: Durability {
        switch self {
        case .power: .power
        case .process: .process
        }
    }
}
