import BelfrySystem
import Testing

@Suite("How many took how long")
struct TimeHistogramTests {
    @Test("a time is counted in the row whose bound it does not pass")
    func rows() {
        var times = TimeHistogram(bounds: [.microseconds(250), .milliseconds(1)])
        times.add(.microseconds(250))
        times.add(.microseconds(251))
        times.add(.seconds(12), count: 2)
        times.add(.seconds(1), count: 0)
        #expect(times.counts == [1, 1, 2])
        #expect(times.total == .seconds(12) + .microseconds(501))
    }
}
