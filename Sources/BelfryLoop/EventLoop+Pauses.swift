public import BelfrySystem

// A process that is stopped (SIGSTOP), or whose machine is moved, does not hear clients that renew
// something. A pause therefore counts for one beat, whatever its length.
extension EventLoop {
    /// The longest delay of a wait that does not count as a pause.
    static let beatNanoseconds: Int64 = 1_000_000_000

    /// The nanoseconds of `now` without pauses, so that no lease ends because of one.
    @inline(__always)
    public var attendedNanoseconds: Int64 { now.nanoseconds - missedNanoseconds }

    /// The time of both clocks now, and not when the turn began: it reads the clock.
    ///
    /// Input that is read in a turn may have come after its beginning, and a delay never counts
    /// from a time before.
    public var freshTimes: (monotonic: MonotonicTime, wall: WallTime) {
        let fresh = kernel.now()
        return (fresh, wallClock.time(at: fresh))
    }

    /// Counts all time since then as missed: no loop could hear a client yet.
    public mutating func noteMissed(since time: MonotonicTime) {
        missedNanoseconds = max(0, now.nanoseconds - time.nanoseconds)
    }

    /// Reads the clocks, and notes the pause since they were read last.
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
        // Input that came meanwhile is read before a deadline of its connection counts.
        earliestSweep = max(earliestSweep, now + .nanoseconds(Self.beatNanoseconds))
    }
}
