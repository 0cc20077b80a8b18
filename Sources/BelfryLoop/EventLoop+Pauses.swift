public import BelfrySystem

// A process that is stopped (SIGSTOP), or whose machine is moved, does not hear those who want to
// renew something. The time that it misses so counts for a beat, whatever its length.
extension EventLoop {
    /// How much later than it asked for the loop may look at the clock before it has missed something.
    static let beatNanoseconds: Int64 = 1_000_000_000

    /// The nanoseconds of `now` without all that the loop has missed: what runs on it never ends because
    /// nobody could be heard.
    @inline(__always)
    public var attendedNanoseconds: Int64 { now.nanoseconds - missedNanoseconds }

    /// The time of both clocks now, and not when the turn began: it reads the clock.
    ///
    /// What is read in a turn may have come after its beginning, and a delay never counts from a
    /// time before.
    public var freshTimes: (monotonic: MonotonicTime, wall: WallTime) {
        let fresh = kernel.now()
        return (fresh, wallClock.time(at: fresh))
    }

    /// Counts all time since then as missed: there was no loop yet that could hear anybody.
    public mutating func noteMissed(since time: MonotonicTime) {
        missedNanoseconds = max(0, now.nanoseconds - time.nanoseconds)
    }

    /// Reads the clocks, and notes what was missed since they were read last.
    ///
    /// - Parameter asked: for how long the wait was to last; nil is until something is ready, so
    ///   that there is nothing that time could end.
    mutating func readClocks(afterWaiting asked: Int64?) {
        let before = now.nanoseconds
        now = kernel.now()
        var reading = kernel.wallNanoseconds()
        if !wallClock.agrees(at: now, reading: reading) {
            // Perhaps the thread stood still in between; what disagrees twice was set.
            now = kernel.now()
            reading = kernel.wallNanoseconds()
            if !wallClock.agrees(at: now, reading: reading) {
                wallClock = SteadyWallClock(at: now, reading: reading)
            }
        }
        wallNow = wallClock.time(at: now)
        guard let wanted = kernel.wantedNanoseconds(asked: asked) else { return }
        let missed = now.nanoseconds - before - wanted - Self.beatNanoseconds
        guard missed > 0 else { return }
        missedNanoseconds += missed
        // What came meanwhile is heard before a deadline of its connection counts.
        earliestSweep = max(earliestSweep, now + .nanoseconds(Self.beatNanoseconds))
    }
}
