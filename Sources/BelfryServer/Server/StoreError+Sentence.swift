import BelfryStore

extension StoreError {
    /// A sentence on the fault for the person who started the broker.
    var sentence: String {
        switch self {
        case .locked:
            "it is in use by another broker; give each broker a directory of its own"
        case .newerSchema(let found, let supported):
            "a later version of belfry has written it (form \(found), this one knows \(supported))"
        case .damaged(let damage):
            damage.sentence
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

extension StoreError.Damage {
    /// A sentence on the fault in the store's files, with the remedy.
    fileprivate var sentence: String {
        switch self {
        case .noDatabase: Self.foreign("it is not a database")
        case .otherApplication(let number):
            Self.foreign("it belongs to the application \(number)")
        case .otherForm: Self.foreign("it is a database of another form")
        case .missingPages: Self.foreign("it is missing, or a part of it is")
        case .brokenStructure(let code): Self.foreign("its structure is broken (SQLite \(code))")
        case .brokenRow(let table):
            Self.foreign("a row of the table \(table.rawValue) is broken")
        case .changedRows(let rows):
            "rows of it are not what a broker wrote, and nothing was changed: "
                + "\(StoreError.text(of: rows)); \(Self.advice)"
        case .brokenLog(let pageCount, let commitCount):
            "its log misses \(pageCount) pages of at least \(commitCount) commits that were "
                + "answered, and nothing was changed; \(Self.advice)"
        case .brokenIndex(let table):
            "the index of its table \(table.rawValue) is damaged, and nothing was changed; "
                + Self.advice
        }
    }

    private static func foreign(_ fault: String) -> String {
        "it is not what a broker left there, and was not changed (\(fault))"
    }

    private static let advice =
        "put a backup back, or start with --accept-damage without what is lost"
}

extension StoreError {
    /// The counts of rows, by table, as text.
    static func text(of rows: [Table: Int]) -> String {
        Table.allCases.compactMap { table in rows[table].map { "\($0) of \(table.rawValue)" } }
            .joined(separator: ", ")
    }
}

extension ServerConfiguration.Durability {
    /// The store's own value for the same.
    var ofStore: Durability {
        switch self {
        case .power: .power
        case .process: .process
        }
    }
}
