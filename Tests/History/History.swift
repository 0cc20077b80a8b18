/// A whole history of a broker, as it looks from outside; afterwards it is checked by the laws.
///
/// It knows nothing of how a center works: what is checked was written from what is promised.
package struct History {
    /// One thing that was seen: during which command, and when.
    struct Moment {
        let command: Int
        let time: Int64
        let event: HistoryEvent
    }

    private(set) var moments: [Moment] = []
    private var command = 0
    private var time: Int64 = 0

    /// Whether each command was answered before the next, so that its account covers all writes.
    let isSynchronous: Bool

    package init(isSynchronous: Bool = true) { self.isSynchronous = isSynchronous }

    /// Assigns the events from now on to this command and time.
    package mutating func begin(command: Int, at time: Int64) {
        self.command = command
        self.time = time
    }

    package mutating func note(_ event: HistoryEvent) {
        moments.append(Moment(command: command, time: time, event: event))
    }

    /// Notes an observer whose answer came late: it is there for all that its `since` is below.
    package mutating func noteLate(_ observer: HistoryObserver) {
        let moment = Moment(command: command, time: time, event: .registered(observer))
        let place = moments.firstIndex { earlier in
            if case .dispatched(let notification) = earlier.event {
                return notification.sequence > observer.since
            }
            return false
        }
        moments.insert(moment, at: place ?? moments.endIndex)
    }

    /// A number over all of it, the same for the same history (FNV-1a).
    package var digest: UInt64 {
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        for line in lines {
            for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return digest
    }

    /// One line for each moment, for the reader of a report.
    package var lines: [String] {
        moments.map { "command \($0.command) at \($0.time / 1_000_000) ms: \($0.event)" }
    }

    /// Checks the five laws and the account of each observer.
    package func check() throws(HistoryFault) {
        let checker = HistoryChecker(isSynchronous: isSynchronous)
        for moment in moments {
            do throws(HistoryFault) {
                try checker.take(moment)
            } catch {
                throw HistoryFault("command \(moment.command): \(error.text)")
            }
        }
        try checker.finish()
    }
}
