/// A refusal with a reason, thrown by the body of `Observation.handle(_:)` or by a handler.
public struct Refusal: Error, Equatable {
    /// The reason, which the poster or the asker reads.
    public let reason: String

    /// Refuses for this reason.
    public init(_ reason: String) {
        self.reason = reason
    }

    /// The reason that is sent for an error of a handler.
    ///
    /// Errors other than a `Refusal` stay private, because the other end may be a stranger.
    static func reason(of error: any Error, by role: String) -> String {
        (error as? Refusal)?.reason ?? "The \(role) has failed."
    }
}
