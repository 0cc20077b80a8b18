import BelfrySystem
import Testing

@testable import BelfryLoop

/// A wait by the one clock does not end early by the other.
@Suite("SteadyWallClock")
struct SteadyWallClockTests {
    private static let wall: Int64 = 1_767_225_600_000_000_000

    @Test("L2: readings that come late by less than a millisecond move no wall time")
    func lateReadings() {
        var clock = SteadyWallClock(at: .init(nanoseconds: 0), reading: Self.wall + 700_000)
        #expect(clock.time(at: .init(nanoseconds: 299_999)).milliseconds == Self.wall / 1_000_000)
        // Here the thread stood still between the two readings of a turn, and there it did not.
        for late: Int64 in [0, 250_000, 999_999, 1, 1_000_000] {
            let now = MonotonicTime(nanoseconds: 300_000)
            let reading = Self.wall + 1_000_000 + late
            if !clock.agrees(at: now, reading: reading) {
                clock = SteadyWallClock(at: now, reading: reading)
            }
            #expect(clock.time(at: now).milliseconds == Self.wall / 1_000_000 + 1)
        }
    }

    @Test("L2: a wait of whole milliseconds moves wall time by as many")
    func waits() {
        for start in stride(from: Int64(0), to: 1_000_000, by: 999) {
            let clock = SteadyWallClock(at: .init(nanoseconds: 5), reading: Self.wall + start)
            let before = clock.time(at: .init(nanoseconds: 77)).milliseconds
            #expect(clock.time(at: .init(nanoseconds: 250_000_077)).milliseconds == before + 250)
        }
    }

    @Test("a clock that was set disagrees, and counts from then on")
    func set() {
        let clock = SteadyWallClock(at: .init(nanoseconds: 0), reading: Self.wall)
        let now = MonotonicTime(nanoseconds: 10_000_000)
        #expect(clock.agrees(at: now, reading: Self.wall + 10_000_000))
        for step: Int64 in [-3_600_000_000_000, -1_000_001, 1_000_001, 3_600_000_000_000] {
            let reading = Self.wall + 10_000_000 + step
            #expect(!clock.agrees(at: now, reading: reading))
            let other = SteadyWallClock(at: now, reading: reading)
            #expect(other.time(at: now).milliseconds == reading / 1_000_000)
        }
    }
}
