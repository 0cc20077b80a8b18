internal import BelfrySystem

/// Timers by their time, then by the order in which they were scheduled.
struct TimerHeap {
    private struct Entry {
        var time: MonotonicTime
        var serial: UInt64
        var payload: UInt64

        static func < (left: Entry, right: Entry) -> Bool {
            (left.time, left.serial) < (right.time, right.serial)
        }
    }

    private var entries: [Entry] = []
    /// The serial number that the next timer gets.
    private(set) var nextSerial: UInt64 = 0

    /// The time of the first timer.
    var firstTime: MonotonicTime? {
        entries.first?.time
    }

    /// Adds a timer.
    ///
    /// - Complexity: O(log n).
    mutating func insert(at time: MonotonicTime, payload: UInt64) -> UInt64 {
        let serial = nextSerial
        nextSerial += 1
        entries.append(Entry(time: time, serial: serial, payload: payload))
        siftUp(entries.count - 1)
        return serial
    }

    /// Takes the first timer if it is due and was scheduled before the serial number.
    ///
    /// So a timer that schedules itself again for right now waits for the next turn.
    mutating func popDue(at now: MonotonicTime, before serial: UInt64) -> UInt64? {
        guard let first = entries.first, first.time <= now else { return nil }
        if first.serial < serial { return remove(at: 0) }
        let later = entries.indices.filter {
            entries[$0].time <= now && entries[$0].serial < serial
        }
        return later.min { entries[$0] < entries[$1] }.map { remove(at: $0) }
    }

    /// Removes a timer.
    ///
    /// - Complexity: O(n); timers are few.
    mutating func remove(serial: UInt64) {
        guard let place = entries.firstIndex(where: { $0.serial == serial }) else { return }
        _ = remove(at: place)
    }

    private mutating func remove(at place: Int) -> UInt64 {
        let payload = entries[place].payload
        entries.swapAt(place, entries.count - 1)
        entries.removeLast()
        if place < entries.count {
            siftUp(place)
            siftDown(place)
        }
        return payload
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child] < entries[parent] else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child] < entries[least] { least = child }
            }
            if least == parent { return }
            entries.swapAt(least, parent)
            parent = least
        }
    }
}
