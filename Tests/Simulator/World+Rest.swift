import BelfryCenter
import BelfryHistory

// The end of a seed: all clients come back and read everything, so that anything missing then was
// lost.

extension World {
    /// Lets all clients come back, read and answer, until nothing more comes.
    ///
    /// A client that watches its own resumptions owes an answer for each, and resumes when it has
    /// given it: its observers that acknowledge go, so that it is told what the others lost.
    func comeToRest() throws(Violation) {
        if try !isRest() {
            for row in rows where row.terms.acknowledges {
                try submit(.removeObserver(serial: row.serial, by: .client(row.client)))
            }
            guard try isRest() else { throw Violation("the end does not come to rest") }
        }
        try commit(.max)
        for row in rows where row.transport == .mailbox {
            if let page = center.mailbox(of: row.serial, after: 0, limit: 100_000) {
                note(page, of: row.serial)
            }
        }
        noteList()
    }

    /// Lets all clients read and answer; returns whether nothing more comes.
    ///
    /// Deliveries that wait for the end of an interval may need that long, and a loss is reported
    /// behind them.
    private func isRest() throws(Violation) -> Bool {
        var quietSince = now
        for round in 0..<3_000 {
            var isQuiet = true
            for place in ends.indices where ends[place].transport == .webSocket {
                if ends[place].connection == nil { try comeBack(place) }
                if round == 0 { try submit(.setSuspended(client: ends[place].client, false)) }
            }
            for place in ends.indices {
                if let number = ends[place].connection, pipes[number]?.frames.isEmpty == false {
                    isQuiet = false
                }
                try read(.max, at: place)
                while let owed = ends[place].owed.popLast() {
                    isQuiet = false
                    answersWhatIsOwed = false
                    try submit(
                        .acknowledge(
                            client: ends[place].client,
                            DeliveryName(observer: owed.observer, sequence: owed.sequence),
                            .result([])))
                }
            }
            let interval = rows.map(\.terms.minInterval).max() ?? 0
            if !isQuiet { quietSince = now }
            // Looked at before time passes again: what that brings is read in the next round.
            if round > 3, now - quietSince > interval { return true }
            try endTurn()
            try advance(max(1_000_000_000, interval / 4))
            if let next = center.nextDeadline, next <= now { quietSince = now }
            // The mailbox has no poll: each look renews its lease.
            for row in rows where row.transport == .mailbox {
                try submit(.readMailbox(observer: row.serial, through: nil))
            }
        }
        return false
    }

    private var rows: [ObserverRow] {
        var query = ObserverQuery()
        query.limit = 1_000
        return center.observers(matching: query) { _, _ in true }.rows
    }

    /// Checks the whole history by the laws.
    func checkHistory() throws(Violation) {
        do throws(HistoryFault) {
            try history.check()
        } catch {
            throw Violation("history: \(error.text)")
        }
    }
}
