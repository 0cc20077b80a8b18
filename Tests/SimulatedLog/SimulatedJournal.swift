package import BelfryCluster

/// One broker's way to a simulated engine.
package final class SimulatedJournal: Journal {
    let number: Int
    private unowned let engine: SimulatedEngine
    private var inbox = Row<JournalEvent>()
    /// The machine that it is on; another start of the broker there has the same.
    package var host = 0
    /// Whether nothing gets through, either way.
    package var isCut = false
    /// Whether its own beats come back during a cut: a part of the engine is cut off with it.
    package var hearsItself = false
    /// The machines that hear none of its beats.
    package var cutPeers: Set<Int> = []
    /// Whether its broker is gone for good.
    package var isClosed = false

    init(number: Int, engine: SimulatedEngine) {
        self.number = number
        self.engine = engine
    }

    package func append(_ entry: [UInt8], as name: EntryName) {
        engine.take(.append(journal: number, entry, name), of: self)
    }

    package func read(after index: UInt64) {
        engine.take(.read(journal: number, after: index), of: self)
    }

    package func trim(through index: UInt64) { engine.take(.trim(through: index), of: self) }

    package func save(_ snapshot: JournalSnapshot) {
        engine.take(.save(journal: number, snapshot), of: self)
    }

    package func load() { engine.take(.load(journal: number), of: self) }

    package func tell(_ beat: Beat) { engine.tell(beat, by: self) }

    /// Whether there is something to take by now.
    package var hasNews: Bool { inbox.hasElement(by: engine.now) }

    package func next() -> JournalEvent? { inbox.popFirst(by: engine.now)?.element }

    /// Something is on its way to the broker; what arrives while the way is cut is lost.
    func receive(_ event: JournalEvent, at time: Int64) {
        if !isCut, !isClosed { inbox.insert(event, at: time) }
    }

    func receiveOwn(_ beat: Beat, at time: Int64) {
        if !isClosed { inbox.insert(.beat(beat), at: time) }
    }

    /// All gets through again, over another connection or the same one.
    package func heal(isReconnected: Bool) {
        isCut = false
        if isReconnected { receive(.reconnected, at: engine.now) }
    }

    /// Loses the messages on their way.
    package func drop() { inbox = Row() }
}
