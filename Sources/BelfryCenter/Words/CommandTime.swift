/// The time that a command carries: what people read, and what durations are measured with.
public struct CommandTime: Sendable, Equatable {
    /// Milliseconds since 1970, UTC.
    public let wallMilliseconds: Int64
    /// Nanoseconds of a clock that never goes back.
    public let monotonicNanoseconds: Int64
    /// The same with all time in which the process stood still: by it timers run, and nothing else (decision 63).
    public let timerNanoseconds: Int64

    /// Joins the clocks.
    ///
    /// - Parameter timerNanoseconds: nil where the process never stood still.
    public init(
        wallMilliseconds: Int64, monotonicNanoseconds: Int64, timerNanoseconds: Int64? = nil
    ) {
        self.wallMilliseconds = wallMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
        self.timerNanoseconds = timerNanoseconds ?? monotonicNanoseconds
    }
}
