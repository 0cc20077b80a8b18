/// The answer of a responder to an ask.
public struct AskAnswer: Sendable, Equatable {
    /// The answer as JSON text.
    public let content: [UInt8]
    /// The observer that has answered.
    public let observer: UInt64
    /// The principal of the caller that has answered; empty for an anonymous one.
    public let principal: [UInt8]
    /// Why it answers so, in its own words.
    public let reason: [UInt8]?

    /// Joins the parts.
    public init(
        _ content: [UInt8], observer: UInt64, principal: [UInt8] = [], reason: [UInt8]? = nil
    ) {
        self.content = content
        self.observer = observer
        self.principal = principal
        self.reason = reason
    }

    /// The bytes of its texts.
    var byteCount: Int { content.count + principal.count + (reason?.count ?? 0) }
}
