import BelfryNATS

extension StreamConfiguration {
    /// The first setting of a stream that is not as in these; nil where all that are known are.
    func difference(from found: StreamConfiguration) -> NATSDifference? {
        let rows: [(String, found: String, wanted: String)] = [
            ("num_replicas", "\(found.numReplicas)", "\(numReplicas)"),
            ("max_bytes", "\(found.maxBytes)", "\(maxBytes)"),
            ("storage", found.storage.rawValue, storage.rawValue),
            ("retention", found.retention.rawValue, retention.rawValue),
            ("discard", found.discard.rawValue, discard.rawValue),
            ("subjects", Self.text(found.subjects), Self.text(subjects)),
            ("republish", Self.text(found.republish), Self.text(republish)),
            ("allow_direct", "\(found.allowDirect)", "\(allowDirect)"),
            ("deny_delete", "\(found.denyDelete)", "\(denyDelete)"),
            ("duplicate_window", "\(found.duplicateWindow)", "\(duplicateWindow)"),
        ]
        guard let row = rows.first(where: { $0.found != $0.wanted }) else { return nil }
        return NATSDifference(setting: row.0, found: row.found, wanted: row.wanted)
    }

    private static func text(_ subjects: [Subject]) -> String {
        subjects.map(\.description).joined(separator: ", ")
    }

    private static func text(_ republish: Republish?) -> String {
        republish.map { "from \($0.source) to \($0.destination)" } ?? "none"
    }
}
