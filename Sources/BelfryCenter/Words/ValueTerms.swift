public import BelfryJSON

/// What makes an observer one of a value: where it looks, and what its frames have.
public struct ValueTerms: Sendable, Equatable {
    /// The place in the value of its object.
    public var path: DocumentPath
    /// Whether the present value comes first (rule V6).
    public var sendsInitial = true
    /// Whether frames have what was there before.
    public var sendsOld = false
    /// Whether changes by its own client bring a frame (rule V7).
    public var sendsOwn = true

    /// Takes the defaults.
    public init(path: DocumentPath) {
        self.path = path
    }

    /// Reads what a store has of it; nil when it is no key path.
    public init?(pathText: [UInt8], flags: UInt8) {
        guard let path = try? DocumentPath.parse(pathText.span) else { return nil }
        self.init(path: path)
        sendsInitial = flags & 1 != 0
        sendsOld = flags & 2 != 0
        sendsOwn = flags & 4 != 0
    }

    /// The text of the path.
    public var pathText: [UInt8] { path.text }

    /// What else it says, a bit each.
    public var flags: UInt8 {
        (sendsInitial ? 1 : 0) | (sendsOld ? 2 : 0) | (sendsOwn ? 4 : 0)
    }
}
