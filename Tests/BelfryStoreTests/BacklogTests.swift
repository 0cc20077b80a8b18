import BelfrySystem
import Testing

@testable import BelfryStore

@Suite("Backlog")
struct BacklogTests {
    static func second(_ number: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(number * 1e9))
    }

    @Test("the first refusal is told, and the end of all once there was none for five seconds")
    func beginAndEnd() {
        var backlog = Backlog()
        #expect(backlog.note(refusalCount: 0, at: Self.second(0)) == nil)
        #expect(backlog.note(refusalCount: 2, at: Self.second(1)) == .behind(refusalCount: 2))
        #expect(backlog.note(refusalCount: 2, at: Self.second(5.9)) == nil)
        #expect(backlog.note(refusalCount: 9, at: Self.second(5.9)) == nil)
        #expect(backlog.note(refusalCount: 9, at: Self.second(10.8)) == nil)
        #expect(backlog.note(refusalCount: 9, at: Self.second(10.9)) == .caughtUp(refusalCount: 9))
        #expect(backlog.note(refusalCount: 9, at: Self.second(20)) == nil)
        #expect(backlog.note(refusalCount: 10, at: Self.second(21)) == .behind(refusalCount: 1))
        #expect(backlog.note(refusalCount: 10, at: Self.second(26)) == .caughtUp(refusalCount: 1))
    }
}
