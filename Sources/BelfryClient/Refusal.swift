/// A refusal with a reason, thrown by the body of `Observation.handle(_:)` or by a handler.
public struct Refusal: Error, Equatable {
    /// The reason, which the poster or the asker reads.
    public let reason: String

    /// Takes the reason.
    public init(_ reason: String) {
        self.reason = reason
    }

    /// The reason that is sent for an error of a handler.
    ///
    /// Errors that are no `Refusal` stay private, because the other end may be a stranger.
    static func reason(of error: any Error, by who: String) -> String {
        (error as? Refusal)?.reason ?? "The \(who) has failed."
    }
}
