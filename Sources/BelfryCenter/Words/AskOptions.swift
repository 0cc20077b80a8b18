/// The wishes of an asker beyond the question itself; they are words of level 6.
public struct AskOptions: Sendable, Equatable {
    /// The JSON object that a page shows to the person who answers.
    public var present: [UInt8]?
    /// Whether the ask waits for the first responder where none is available (rule R21).
    public var waitsForAnybody = false

    /// Makes options without a wish.
    public init() {}

    /// The bytes of its texts.
    public var byteCount: Int { present?.count ?? 0 }

    /// Whether there is a wish.
    public var isUsed: Bool { present != nil || waitsForAnybody }
}
