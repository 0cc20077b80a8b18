import BelfryTLS

/// A key of a file that tokens are verified with.
struct VerificationKey: Sendable {
    /// The identity of the key; a reload keeps the callers of a key that is still the same.
    let mark: Mark
    private let key: SignatureKey

    struct Mark: Sendable, Equatable {
        /// Its name; empty for a key of a set that gives it none.
        let id: [UInt8]
        let algorithm: SignatureAlgorithm
        let material: SignatureKey.Material
        /// Under which rules its tokens are read.
        var rules = TokenRules()
    }

    /// Makes a key out of what a file tells.
    ///
    /// - Returns: nil when that is not a key for the algorithm, or one that is too weak.
    init?(_ mark: Mark) {
        guard let key = SignatureKey(mark.material, for: mark.algorithm) else { return nil }
        self.mark = mark
        self.key = key
    }

    /// Whether these bytes were signed with the other half of the key.
    func isValid(signature: [UInt8], of signed: [UInt8]) -> Bool {
        key.isValid(signature: signature, of: signed)
    }
}
