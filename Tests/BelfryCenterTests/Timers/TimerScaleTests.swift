import Testing

@testable import BelfryCenter

@Suite("Timers in great number")
struct TimerScaleTests {
    @Test("a timer takes at most 350 bytes besides its texts, also with an object of its own")
    func footprint() {
        var limits = CenterLimits()
        limits.timerLimit = 25_000
        var scenario = Scenario(limits: limits)
        let before = kept(&scenario)
        var textByteCount = 0
        for number in 0..<25_000 {
            scenario.later("a\(number)/object\(number)", after: Int64(number % 977) * 1_000)
            textByteCount += "a\(number)object\(number)".utf8.count
        }
        let each = (kept(&scenario) - before - textByteCount) / 25_000
        #expect(each <= 350, "\(each) bytes each")
    }

    private func kept(_ scenario: inout Scenario) -> Int { scenario.keptMemory()[.queue] }
}
