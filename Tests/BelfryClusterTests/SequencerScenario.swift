import BelfryCenter
import BelfryCluster

/// A journal whose other side is the test.
final class ScriptedJournal: Journal {
    struct Appended {
        let entry: Entry
        let name: EntryName
    }

    var appended: [Appended] = []
    var readAfter: [UInt64] = []
    var trimmed: [UInt64] = []
    var saved: [JournalSnapshot] = []
    var loadCount = 0
    var beats: [Beat] = []
    var events: [JournalEvent] = []

    func append(_ entry: [UInt8], as name: EntryName) {
        guard let read = try? Entry(code: entry) else { return }
        appended.append(Appended(entry: read, name: name))
    }

    func read(after index: UInt64) { readAfter.append(index) }
    func trim(through index: UInt64) { trimmed.append(index) }
    func save(_ snapshot: JournalSnapshot) { saved.append(snapshot) }
    func load() { loadCount += 1 }
    func send(_ beat: Beat) { beats.append(beat) }
    func next() -> JournalEvent? { events.isEmpty ? nil : events.removeFirst() }
}

/// One broker with a journal and a clock that the test has.
final class SequencerScenario {
    let journal = ScriptedJournal()
    let sequencer: ReplicatedSequencer
    var shard = Shard(limits: CenterLimits().ofLog, seed: HashSeed(1, 2))
    private var effects = Effects()
    /// In milliseconds.
    var now: Int64 = 0
    /// The events that the host was told.
    var told: [String] = []
    private(set) var lastIndex: UInt64 = 0
    /// Another broker, which writes what the test says.
    private var others: [String: (life: UInt64, number: UInt64)] = [:]

    init(
        _ node: String = "n1", level: UInt64 = 1, change: (inout ClusterOptions) -> Void = { _ in }
    ) {
        var options = ClusterOptions(node: [UInt8](node.utf8))
        options.level = level
        change(&options)
        sequencer = ReplicatedSequencer(
            options, journal: journal, at: 0, random: { 0 }, wallMilliseconds: { 1_000 })
    }

    /// A broker whose life runs.
    static func up(change: (inout ClusterOptions) -> Void = { _ in }) -> SequencerScenario {
        let scenario = SequencerScenario(change: change)
        scenario.receive(.snapshot(nil))
        scenario.receive(.end(lastIndex: 0))
        scenario.log()
        scenario.told = []
        return scenario
    }

    /// Lets the broker take events, and ends its turn.
    func receive(_ events: JournalEvent...) {
        journal.events += events
        turn()
    }

    func turn() {
        while let happening = sequencer.next(&shard, at: now * 1_000_000, into: &effects) {
            switch happening {
            case .step(let step):
                if let id = step.id { told.append("step \(id.counter) \(step.result)") }
            case .failed(let id, let failure): told.append("failed \(id.counter) \(failure)")
            case .loaded, .began, .broker, .fenced, .left, .stopped: told.append("\(happening)")
            }
        }
        sequencer.endTurn(at: now * 1_000_000)
    }

    /// The log has what the broker appended last, or earlier, and tells it.
    func log(fromLast distance: Int = 0) {
        let entry = journal.appended[journal.appended.count - 1 - distance].entry
        log(entry)
    }

    func log(_ entry: Entry) {
        lastIndex += 1
        receive(.entry(index: lastIndex, entry.code))
    }

    /// An entry of another broker, which has applied all.
    func entry(of node: String, _ actions: ShardCommand.Action...) -> Entry {
        var writer = others[node] ?? (life: 5, number: 0)
        writer.number += 1
        others[node] = writer
        return Entry(
            node: [UInt8](node.utf8), life: writer.life, number: writer.number,
            appliedIndex: shard.logIndex, chain: shard.chain, elapsed: 0, wallMilliseconds: 0,
            commands: actions.enumerated().map {
                Entry.Numbered(counter: writer.number * 100 + UInt64($0.offset), action: $0.element)
            })
    }

    /// Time passes, in steps of 100 ms.
    func pass(_ milliseconds: Int64, hearing isHearing: Bool = true) {
        let end = now + milliseconds
        while now < end {
            now = min(end, now + 100)
            if isHearing {
                receive(
                    .beat(Beat(node: [UInt8]("n9".utf8), life: 1, appliedIndex: 0)))
            }
            sequencer.tick(shard, at: now * 1_000_000)
            turn()
        }
    }

    @discardableResult
    func submit(_ action: ShardCommand.Action = .nothing) -> Result<CommandID, Unavailability> {
        do {
            return .success(try sequencer.submit(action, at: now * 1_000_000))
        } catch {
            return .failure(error)
        }
    }

    /// Submits, and ends the turn.
    func write(_ action: ShardCommand.Action = .nothing) {
        submit(action)
        turn()
    }

    /// The numbers of the entries that were appended, each with its attempt.
    var names: [String] { journal.appended.map { "\($0.name.number).\($0.name.attempt)" } }
}
