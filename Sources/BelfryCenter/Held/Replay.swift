/// What comes out of the replay ring for observers of one client: the newest of it that there is room
/// for beside what is held for the client.
///
/// What is replayed counts for no limit of an observer: the ring bounds it. All observers of a client
/// together could ask for the ring many times over, so what the client may be held bounds that.
struct Replay {
    /// How many more may be held for the client, and how many bytes.
    ///
    /// Below zero where it holds more than it may: what it owed is held again when its connection ends.
    private let countRoom: Int
    private let byteRoom: Int
    /// What the client gets, the oldest first.
    private(set) var matches = Ring<(notification: Notification, observer: UInt32)>()
    private var byteCount = 0
    /// What there is no room for, by the slots of the observers.
    private var lost: [UInt32: GapRecord] = [:]

    init(countRoom: Int, byteRoom: Int) {
        self.countRoom = countRoom
        self.byteRoom = byteRoom
    }

    /// Adds a notification that matches an observer; it comes after all that were added before.
    mutating func add(_ notification: Notification, to observer: UInt32) {
        matches.append((notification, observer))
        byteCount += notification.content.byteCount
        // Bound: resume
        while !matches.isEmpty, matches.count > countRoom || byteCount > byteRoom {
            let oldest = matches.removeFirst()
            byteCount -= oldest.notification.content.byteCount
            let sequence = oldest.notification.sequence
            var gap =
                lost[oldest.observer]
                ?? GapRecord(reason: .overflow, count: 0, first: sequence, last: sequence)
            gap.count = gap.count.map { $0 + 1 }
            gap.last = sequence
            lost[oldest.observer] = gap
        }
    }

    /// Where the newest of some notifications begin that there is room for, while nothing is added yet.
    ///
    /// - Parameters:
    ///   - counts: for how many observers each of them is, the oldest first.
    ///   - byteCount: the bytes of one.
    func edge(of counts: [Int], byteCount: (Int) -> Int) -> ReplayEdge {
        var count = max(0, countRoom)
        var bytes = max(0, byteRoom)
        for place in counts.indices.reversed() {  // Bound: resume
            let size = max(1, byteCount(place))
            let fitting = min(counts[place], count, bytes / size)
            if fitting < counts[place] {
                return ReplayEdge(place: place, lostCount: counts[place] - fitting)
            }
            count -= fitting
            bytes -= fitting * size
        }
        return ReplayEdge(place: 0, lostCount: 0)
    }

    /// Notes what an observer does not get for want of room.
    mutating func lose(_ gap: GapRecord, of observer: UInt32) { lost[observer] = gap }

    /// What an observer does not get for want of room.
    func loss(of observer: UInt32) -> GapRecord? { lost[observer] }
}

extension ArraySlice<Int> {
    /// Where the first of the elements stands, which ascend, that is not below a number; the end if all are.
    func firstPlace(notBelow number: Int) -> Int {
        indices.firstPlace { self[$0] >= number }
    }
}
