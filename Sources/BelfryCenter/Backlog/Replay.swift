/// The replay for the observers of one client: the newest notifications that fit.
///
/// Replayed notifications do not count for the limit of an observer: the ring bounds them. All
/// observers of a client together could ask for the ring many times over, so the limit of the
/// client bounds that.
struct Replay {
    /// The numbers of notifications and of bytes that may still be held for the client.
    ///
    /// They are below zero where the client is past its limit: unacknowledged notifications are
    /// held again when its connection ends.
    let countRoom: Int
    let byteRoom: Int
    /// The replayed notifications, the oldest first.
    private(set) var matches = Ring<(notification: Notification, observer: UInt32)>()
    private var byteCount = 0
    /// The notifications that did not fit, by the slots of the observers.
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
            lose(
                GapRecord(reason: .overflow, count: 1, first: sequence, last: sequence),
                of: oldest.observer)
        }
    }

    /// The edge of the newest notifications that fit, before any is added.
    ///
    /// - Parameters:
    ///   - counts: The number of observers of each notification, the oldest first.
    ///   - byteCount: The bytes of one.
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

    /// Notes the loss of an observer for want of room, or of work that conditions may do.
    mutating func lose(_ gap: GapRecord, of observer: UInt32) {
        if lost[observer]?.add(gap) == nil { lost[observer] = gap }
    }

    /// The loss of an observer for want of room or work.
    func loss(of observer: UInt32) -> GapRecord? { lost[observer] }
}

extension ArraySlice<Int> {
    /// The place of the first of ascending elements not below a number; the end if all are below.
    func firstPlace(notBelow number: Int) -> Int {
        indices.firstPlace { self[$0] >= number }
    }
}
