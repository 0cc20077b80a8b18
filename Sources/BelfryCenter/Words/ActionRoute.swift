/// The route of an action that was or would be delivered.
public struct ActionRoute: Sendable, Equatable {
    /// The addresses of the walk; the first one is the target.
    public let path: [[UInt8]]
    /// The responder that has it; nil when it has none.
    public let responder: UInt64?

    /// Joins both.
    public init(path: [[UInt8]], responder: UInt64?) {
        self.path = path
        self.responder = responder
    }
}
