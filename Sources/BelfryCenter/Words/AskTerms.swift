/// Under which terms an ask is accepted.
public struct AskTerms: Sendable {
    /// The client that asks over its connection; nil for an asker over HTTP.
    public var client: UInt64?
    /// Who asks, as access control named them.
    public var principal: [UInt8] = []
    /// Whether what must last can be stored now.
    public var canStore = true
    /// The owner that the ask counts for while it is open.
    public var owner = Owner.none
    /// Bytes that all open asks of the broker together, and those of the owner, still have room for.
    public var byteRoom = Int.max
    /// The Idempotency-Key.
    public var key: IdempotencyKey?

    /// Takes the defaults.
    public init() {}
}
