/// The cover of a command: what of others it may take away, as data (decision 122).
///
/// A broker knows what its caller's grants cover, and the center what is there when the command is
/// applied.
public struct Cover: Sendable, Equatable {
    /// The selectors, with their addresses, whose responders it may replace.
    public var selectors = PostScope.everything
    /// The principal whose responders it may replace in any case; nil where nobody knows who it is.
    public var principal: [UInt8]?
    /// The depths on the path of its write where nothing may be but objects, in keys.
    public var keptDepths: [Int] = []

    /// Covers everything.
    public init() {}

    /// The most selectors that are looked at for one registration: to replace more needs more than
    /// grants on some of them.
    static let selectorLimit = 1_024
}
