/// What the frame of an ask has besides its notification.
public struct ShownAsk: Sendable, Equatable {
    /// The address whose turn it is.
    public let target: [UInt8]
    /// When its time is over, in milliseconds since 1970.
    public let answerBy: Int64

    /// Joins both.
    public init(target: [UInt8], answerBy: Int64) {
        self.target = target
        self.answerBy = answerBy
    }
}
