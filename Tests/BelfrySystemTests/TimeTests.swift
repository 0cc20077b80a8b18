import BelfrySystem
import Testing

@Suite("MonotonicTime and WallTime")
struct TimeTests {
    @Test("durations are added and subtracted to the nanosecond")
    func arithmetic() {
        let start = MonotonicTime(nanoseconds: 1_000)
        #expect((start + .nanoseconds(1)).nanoseconds == 1_001)
        #expect((start - .seconds(1)).nanoseconds == 1_000 - 1_000_000_000)
        #expect((start + .seconds(3)) - start == .seconds(3))
        #expect(start - (start + .seconds(3)) == .seconds(-3))
        #expect(start < start + .nanoseconds(1))
    }

    @Test("past the end of the clock it is the end")
    func saturation() {
        let last = MonotonicTime(nanoseconds: .max - 1)
        #expect(last + .nanoseconds(1) == .distantFuture)
        #expect(last + .nanoseconds(2) == .distantFuture)
        #expect(last + .seconds(Int64.max) == .distantFuture)
        #expect(last - MonotonicTime(nanoseconds: .min) == .nanoseconds(Int64.max))
    }

    @Test("the monotonic clock does not go back")
    func monotonic() {
        let first = MonotonicTime.now()
        #expect(MonotonicTime.now() >= first)
    }

    @Test("wall time counts in milliseconds")
    func wall() {
        let time = WallTime(milliseconds: 1_500)
        #expect((time + .seconds(2)).milliseconds == 3_500)
        #expect((time - .microseconds(1_999)).milliseconds == 1_499)
        #expect((time + .seconds(1)) - time == .seconds(1))
        #expect(WallTime.now() > WallTime(milliseconds: 1_700_000_000_000))
    }
}
