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

    /// The text of the path.
    public var pathText: [UInt8] { path.text }
}
