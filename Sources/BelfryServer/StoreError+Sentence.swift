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

extension ServerConfiguration.Durability {
    /// The same, as the store calls it.
    var ofStore: Durability {
        switch self {
        case .power: .power
        case .process: .process
        }
    }
}
