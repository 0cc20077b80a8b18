public import BelfryJSON

/// The terms of an observer of a value: its place, and the content of its frames.
public struct ValueTerms: Sendable, Equatable {
    /// The place in the value of its object.
    public var path: DocumentPath
    /// Whether the present value comes first (rule V6).
    public var sendsInitial = true
    /// Whether frames have the previous value.
    public var sendsOld = false
    /// Whether changes by its own client make a frame (rule V7).
    public var sendsOwn = true

    /// Makes terms with the defaults.
    public init(path: DocumentPath) {
        self.path = path
    }

    /// Reads the terms from a store; nil when the path is invalid.
    public init?(pathText: [UInt8], flags: UInt8) {
        guard let path = try? DocumentPath.parse(pathText.span) else { return nil }
        self.init(path: path)
        sendsInitial = flags & 1 != 0
        sendsOld = flags & 2 != 0
        sendsOwn = flags & 4 != 0
    }

    /// The text of the path.
    public var pathText: [UInt8] { path.text }

    /// The other terms, a bit each.
    public var flags: UInt8 {
        (sendsInitial ? 1 : 0) | (sendsOld ? 2 : 0) | (sendsOwn ? 4 : 0)
    }
}
