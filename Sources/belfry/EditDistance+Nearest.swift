import BelfryCenter

extension EditDistance {
    /// The first of these names that is one slip away from a word.
    static func nearest(_ word: String, in names: [String]) -> String? {
        names.first { isSlip(Array($0.utf8).span, Array(word.utf8).span) }
    }
}
