/// What the body of `Observation.handle(_:)` or the handler of a responder throws to refuse for a reason.
public struct Refusal: Error, Equatable {
    /// The reason, which the poster or the asker reads.
    public let reason: String

    /// Takes the reason.
    public init(_ reason: String) {
        self.reason = reason
    }

    /// What an error that a handler threw says to the other end: without a reason of its own nothing, for that
    /// may be anybody.
    static func reason(of error: any Error, by who: String) -> String {
        (error as? Refusal)?.reason ?? "The \(who) has failed."
    }
}
