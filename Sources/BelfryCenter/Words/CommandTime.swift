/// The time of a command: a wall clock for people, and clocks that measure durations.
public struct CommandTime: Sendable, Equatable {
    /// Milliseconds since 1970, UTC.
    public let wallMilliseconds: Int64
    /// Nanoseconds of a clock that never goes back.
    public let monotonicNanoseconds: Int64
    /// The same clock with the time in which the process stood still; only timers use it.
    ///
    /// See decision 63.
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
