import BelfryStore

extension StoreError {
    /// What is wrong, for the person who started the broker.
    var sentence: String {
        switch self {
        case .locked:
            "another process has it; one directory serves one broker"
        case .newerSchema(let found, let supported):
            "a later version of belfry has written it (form \(found), this one knows \(supported))"
        case .damaged(let damage):
            "it is not what a broker left there, and was not changed (\(damage.sentence))"
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
    /// What is wrong with the main file.
    fileprivate var sentence: String {
        switch self {
        case .noDatabase: "it is not a database"
        case .otherApplication(let number): "it belongs to the application \(number)"
        case .otherForm: "it is a database of another form"
        case .missingPages: "it is missing, or a part of it is"
        case .brokenStructure(let code): "its structure is broken (SQLite \(code))"
        case .brokenRow(let table): "a row of the table \(table.rawValue) is broken"
        }
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
