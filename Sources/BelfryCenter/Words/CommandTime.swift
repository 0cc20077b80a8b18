/// The time that a command carries: what people read, and what durations are measured with.
public struct CommandTime: Sendable, Equatable {
    /// Milliseconds since 1970, UTC.
    public let wallMilliseconds: Int64
    /// Nanoseconds of a clock that never goes back.
    public let monotonicNanoseconds: Int64

    /// Joins both clocks.
    public init(wallMilliseconds: Int64, monotonicNanoseconds: Int64) {
        self.wallMilliseconds = wallMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
    }
}
