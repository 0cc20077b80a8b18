/// Which open asks a listing asks for; a field that is nil asks for any.
public struct AskQuery: Sendable {
    /// The place after which the page starts.
    public var cursor: UInt64 = 0
    /// How many rows the page has at most.
    public var limit = 100
    /// The address.
    public var object: [UInt8]?
    /// The selector.
    public var selector: [UInt8]?
    /// The number of the observer whose turn it is.
    public var observer: UInt64?

    /// Asks for all open asks.
    public init() {}
}
