import Testing

@testable import BelfryCenter

@Suite("ReplayRing")
struct ReplayRingTests {
    private func notification(_ sequence: UInt64, byteCount: Int = 1) -> Notification {
        Notification(
            id: NotificationID(high: 0, low: sequence), sequence: sequence, postedAt: 0,
            causedBy: nil,
            content: Notification.Content(name: [UInt8](repeating: 97, count: byteCount)))
    }

    private func sequences(_ ring: ReplayRing, above sequence: UInt64) -> [UInt64] {
        var result: [UInt64] = []
        ring.forEach(above: sequence) { result.append($0.sequence) }
        return result
    }

    @Test("the count limit is kept at and one past it")
    func countLimit() {
        var limits = CenterLimits()
        limits.replayCountLimit = 3
        var ring = ReplayRing(limits: limits)
        for sequence in 1...3 as ClosedRange<UInt64> {
            ring.append(notification(sequence))
        }
        #expect(sequences(ring, above: 0) == [1, 2, 3])
        ring.append(notification(4))
        #expect(sequences(ring, above: 0) == [2, 3, 4])
        #expect(ring.forgottenThrough == 1)
    }

    @Test("the byte limit is kept at and one past it")
    func byteLimit() {
        var limits = CenterLimits()
        limits.replayByteLimit = 10
        var ring = ReplayRing(limits: limits)
        ring.append(notification(1, byteCount: 4))
        ring.append(notification(2, byteCount: 6))
        #expect(ring.byteCount == 10)
        #expect(sequences(ring, above: 0) == [1, 2])
        ring.append(notification(3, byteCount: 1))
        #expect(ring.byteCount == 7)
        #expect(sequences(ring, above: 0) == [2, 3])
    }

    @Test("a notification that is larger than the whole ring empties it")
    func tooLarge() {
        var limits = CenterLimits()
        limits.replayByteLimit = 10
        var ring = ReplayRing(limits: limits)
        ring.append(notification(1))
        ring.append(notification(2, byteCount: 11))
        #expect(ring.count == 0)
        #expect(ring.byteCount == 0)
        #expect(ring.forgottenThrough == 2)
        ring.append(notification(3))
        #expect(sequences(ring, above: 1) == [3])
    }

    @Test("a limit of nothing keeps nothing", arguments: [0, -1])
    func nothing(limit: Int) {
        var limits = CenterLimits()
        limits.replayCountLimit = limit
        var ring = ReplayRing(limits: limits)
        ring.append(notification(1))
        #expect(ring.count == 0)
    }

    @Test("only what is above the number is visited, also past the end")
    func above() {
        var ring = ReplayRing(limits: CenterLimits())
        for sequence in 5...8 as ClosedRange<UInt64> {
            ring.append(notification(sequence))
        }
        #expect(sequences(ring, above: 3) == [5, 6, 7, 8])
        #expect(sequences(ring, above: 5) == [6, 7, 8])
        #expect(sequences(ring, above: 7) == [8])
        #expect(sequences(ring, above: 8) == [])
        #expect(sequences(ring, above: 100) == [])
        #expect(sequences(ring, above: UInt64.max) == [])
    }

    @Test("a lower limit that is configured takes effect at once")
    func configure() {
        var scenario = Scenario()
        for _ in 0..<10 { scenario.post("a") }
        #expect(scenario.center.replay.count == 10)
        var limits = CenterLimits()
        limits.replayCountLimit = 4
        scenario.apply(.configure(limits))
        #expect(scenario.center.replay.count == 4)
        #expect(scenario.center.replay.forgottenThrough == 6)
    }
}
