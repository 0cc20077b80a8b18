/// An idempotency key, with the request that it stands for.
public struct IdempotencyKey: Sendable, Hashable {
    /// The principal of the request; keys of different principals are different.
    public let principal: [UInt8]
    /// The key.
    public let text: [UInt8]
    /// The hash of the request: the same key with another request is refused.
    public let requestHash: SecretHash
    /// The form of the answer, which a replay repeats; the center hands it back as it is.
    public let form: UInt8
    /// The owner that it counts for.
    public let owner: Owner

    /// Joins the parts.
    public init(
        principal: [UInt8], text: [UInt8], requestHash: SecretHash, form: UInt8,
        owner: Owner = .none
    ) {
        self.principal = principal
        self.text = text
        self.requestHash = requestHash
        self.form = form
        self.owner = owner
    }
}
