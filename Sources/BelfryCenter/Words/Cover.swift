/// The cover of a command: the property of others that it may remove, as data (decision 122).
///
/// A broker knows the grants of its caller, and the center knows its state when the command is
/// applied.
public struct Cover: Sendable, Equatable {
    /// The selectors, with their addresses, whose responders it may replace.
    public var selectors = PostScope.everything
    /// The principal whose responders it may replace in any case; nil for an unknown caller.
    public var principal: [UInt8]?
    /// The depths on the path of its write, in keys, at which only objects may be.
    public var keptDepths: [Int] = []

    /// Makes a cover of everything.
    public init() {}

    /// The most selectors that are examined for one registration.
    ///
    /// To replace responders with more needs more than grants on some of them.
    static let selectorLimit = 1_024
}
