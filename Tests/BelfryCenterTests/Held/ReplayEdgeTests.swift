import Testing

@testable import BelfryCenter

@Suite("ReplayEdge: where the newest begin that there is room for (decision 65)")
struct ReplayEdgeTests {
    private static func notification(_ sequence: Int, byteCount: Int) -> Notification {
        Notification(
            id: NotificationID(high: 0, low: UInt64(sequence)), sequence: UInt64(sequence),
            postedAt: 0, causedBy: nil,
            content: Notification.Content(name: [UInt8](repeating: 97, count: byteCount)))
    }

    @Test("it is as if all were added one after another, and the oldest dropped each time")
    func naive() {
        var generator = SeededGenerator(seed: 65)
        for _ in 0..<500 {
            let observerCount = 1 + generator.below(5)
            let sizes = (0..<generator.below(8)).map { _ in 1 + generator.below(6) }
            // Which observers get which of the notifications.
            let isFor = (0..<observerCount).map { _ in sizes.map { _ in generator.below(3) > 0 } }
            let room = (count: generator.below(14) - 2, bytes: generator.below(40) - 4)
            var naive = Replay(countRoom: room.count, byteRoom: room.bytes)
            for (place, size) in sizes.enumerated() {
                for observer in 0..<observerCount where isFor[observer][place] {
                    naive.add(Self.notification(place, byteCount: size), to: UInt32(observer))
                }
            }
            let counts = sizes.indices.map { place in isFor.count { $0[place] } }
            var edge = Replay(countRoom: room.count, byteRoom: room.bytes)
                .edge(of: counts) { sizes[$0] }
            var taken: [(UInt64, UInt32)] = []
            for observer in 0..<observerCount {
                let places = sizes.indices.filter { isFor[observer][$0] }
                let lostCount = edge.lostCount(of: places)
                #expect(naive.loss(of: UInt32(observer))?.count ?? 0 == lostCount)
                taken += places[lostCount...].map { (UInt64($0), UInt32(observer)) }
            }
            taken.sort { $0 < $1 }
            let matches = (naive.matches.startPosition..<naive.matches.endPosition).map {
                (naive.matches[$0].notification.sequence, naive.matches[$0].observer)
            }
            #expect(taken.elementsEqual(matches) { $0 == $1 })
        }
    }
}
