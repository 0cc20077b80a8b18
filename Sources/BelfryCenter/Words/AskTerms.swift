/// The terms under which an ask is accepted.
public struct AskTerms: Sendable {
    /// The client that asks over its connection; nil for an asker over HTTP.
    public var client: UInt64?
    /// The principal of the asker, from access control.
    public var principal: [UInt8] = []
    /// Whether stored changes are possible now.
    public var canStore = true
    /// The owner that the ask counts for while it is open.
    public var owner = Owner.none
    /// Bytes still free for open asks, those of the whole broker and those of the owner.
    public var byteRoom = Int.max
    /// The Idempotency-Key.
    public var key: IdempotencyKey?

    /// Makes terms with the defaults.
    public init() {}
}
