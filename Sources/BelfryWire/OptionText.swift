internal import BelfryCenter

// The words that options have in JSON and in a query.

extension PostingStyle {
    var text: String {
        switch self {
        case .now: "now"
        case .asap: "asap"
        case .idle: "idle"
        }
    }

    init?(text: [UInt8]) {
        guard let style = Self.allCases.first(where: { text.elementsEqual($0.text.utf8) }) else {
            return nil
        }
        self = style
    }

    static let detail = "must be now, asap or idle"
}

extension SuspensionBehavior {
    var text: String {
        switch self {
        case .drop: "drop"
        case .coalesce: "coalesce"
        case .hold: "hold"
        case .deliverImmediately: "deliverImmediately"
        }
    }

    init?(text: [UInt8]) {
        guard let behavior = Self.allCases.first(where: { text.elementsEqual($0.text.utf8) })
        else { return nil }
        self = behavior
    }

    static let detail = "must be drop, coalesce, hold or deliverImmediately"
}

extension ResponderTerms.IfHeld {
    var text: String {
        switch self {
        case .replace: "replace"
        case .refuse: "refuse"
        case .share: "share"
        }
    }

    init?(text: [UInt8]) {
        guard let ifHeld = Self.allCases.first(where: { text.elementsEqual($0.text.utf8) }) else {
            return nil
        }
        self = ifHeld
    }

    static let detail = "must be replace, refuse or share"
}

extension Coalescing {
    /// Each of what can be compared, with its word.
    static let words: [(text: String, coalescing: Coalescing)] = [
        ("name", .onName), ("sender", .onSender),
    ]

    /// Reads `name` or `sender`.
    init?(word: some Sequence<UInt8>) {
        for (text, coalescing) in Self.words where word.elementsEqual(text.utf8) {
            self = coalescing
            return
        }
        return nil
    }

    /// Reads `none`, or a comma list of words.
    init?(list: [UInt8]) {
        self = .none
        if list.elementsEqual("none".utf8) { return }
        for word in list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard let coalescing = Coalescing(word: word) else { return nil }
            formUnion(coalescing)
        }
    }

    static let wordDetail = "must be name or sender"
    static let listDetail = "must be none, or a comma list of name and sender"
    static let detail = "must be none, or an array of name and sender"
}

/// Which content a queue entry keeps (rule Q6).
enum Keep {
    /// Reads whether it is the latest one's.
    static func isLatest(_ text: [UInt8]) -> Bool? {
        if text.elementsEqual("latest".utf8) { return true }
        return text.elementsEqual("first".utf8) ? false : nil
    }

    static let detail = "must be first or latest"
}
