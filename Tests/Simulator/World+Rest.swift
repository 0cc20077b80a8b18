import BelfryCenter
import BelfryHistory

// The end of a seed: whoever is away comes back and reads everything, so that what is still missing then
// was lost.

extension World {
    /// Lets everybody come back, read and answer, until nothing more comes.
    func comeToRest() throws(Violation) {
        for round in 0..<20 {
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
                            client: ends[place].client, observer: owed.observer,
                            sequence: owed.sequence, error: nil))
                }
            }
            try endTurn()
            try advance(1_000_000_000)
            if isQuiet, round > 3 { break }
        }
        try commit(.max)
        var query = ObserverQuery()
        query.limit = 1_000
        for row in center.observers(matching: query, visible: { _, _ in true }).rows
        where row.transport == .mailbox {
            if let page = center.mailbox(of: row.serial, after: 0, limit: 100_000) {
                note(page, of: row.serial)
            }
        }
        noteList()
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
