package import BelfryCluster
import BelfryHistory

/// An engine with one log in memory, which may lose, double, delay and reorder all messages.
///
/// It keeps entries that it has answered as appended, until ``rewind(to:)`` plants a loss. Without
/// faults it is a log in memory that answers at once.
package final class SimulatedEngine {
    /// The faults; each happens once in so many times, and 0 is never.
    package struct Faults {
        package var lostRequest = 0
        package var lostAnswer = 0
        package var lateAnswer = 0
        package var staleAnswer = 0
        package var lostPush = 0
        package var doubledPush = 0
        package var lostBeat = 0
        /// The longest usual way of a message, in nanoseconds.
        package var delay: Int64 = 0

        package init() {}
    }

    package var faults: Faults
    /// The time, in nanoseconds.
    package private(set) var now: Int64 = 0
    private var dice: Dice
    /// The entries from ``firstIndex`` on.
    package private(set) var entries: [[UInt8]] = []
    package private(set) var firstIndex: UInt64 = 1
    private var names: [Name: UInt64] = [:]
    package private(set) var snapshot: JournalSnapshot?
    private var requests = Row<Request>()
    package private(set) var journals: [SimulatedJournal] = []
    /// The end of an election, before which nothing is appended or read.
    private var electionEnd: Int64 = 0
    /// Until when the log takes no entry.
    private var fullEnd: Int64 = 0

    private struct Name: Hashable {
        let journal: Int
        let entry: EntryName
    }

    enum Request {
        case append(journal: Int, [UInt8], EntryName)
        case read(journal: Int, after: UInt64)
        case trim(through: UInt64)
        case save(journal: Int, JournalSnapshot)
        case load(journal: Int)
    }

    package init(seed: UInt64, faults: Faults = Faults()) {
        dice = Dice(seed: seed)
        self.faults = faults
    }

    package var lastIndex: UInt64 { firstIndex + UInt64(entries.count) - 1 }

    /// A broker connects for the first time, or again with nothing on its way.
    package func connect() -> SimulatedJournal {
        let journal = SimulatedJournal(number: journals.count, engine: self)
        journals.append(journal)
        return journal
    }

    /// Time passes up to here, and what is on its way by then arrives.
    package func run(until time: Int64) {
        while let (due, request) = requests.popFirst(by: time) {
            now = max(now, due)
            serve(request)
        }
        now = max(now, time)
    }

    /// Loses the leader: until the next one nothing is appended, and requests may change places.
    ///
    /// The next one may not know the names of entries: an engine remembers them only for a while.
    package func loseLeader(for nanoseconds: Int64) {
        electionEnd = max(electionEnd, now + nanoseconds)
        if dice.oneIn(2) { names = [:] }
    }

    /// The log has no room.
    package func fill(for nanoseconds: Int64) { fullEnd = max(fullEnd, now + nanoseconds) }

    /// The files are put back: entries that were acknowledged are gone.
    package func rewind(to index: UInt64) {
        entries.removeLast(Int(lastIndex - index))
        names = names.filter { $0.value <= index }
        if let kept = snapshot, kept.index > index { snapshot = nil }
    }

    // MARK: Requests

    func take(_ request: Request, of journal: SimulatedJournal) {
        guard !journal.isCut, !dice.happens(faults.lostRequest) else { return }
        requests.insert(request, at: now + way(late: faults.lateAnswer))
    }

    private func way(late: Int) -> Int64 {
        let usual = faults.delay == 0 ? 0 : Int64(dice.below(Int(faults.delay)))
        return dice.happens(late) ? usual * 200 : usual
    }

    private func serve(_ request: Request) {
        if now < electionEnd, !request.isLoad {
            // Some wait for the next leader, which takes them in any order; others are lost.
            if dice.oneIn(2) {
                requests.insert(request, at: electionEnd + Int64(dice.below(20_000_000)))
            }
            return
        }
        switch request {
        case .append(let journal, let entry, let name): append(entry, name, by: journal)
        case .read(let journal, let index): read(after: index, by: journal)
        case .trim(let index):
            guard index >= firstIndex, index <= lastIndex else { return }
            entries.removeFirst(Int(index - firstIndex) + 1)
            firstIndex = index + 1
        case .save(let journal, let snapshot):
            if snapshot.index >= self.snapshot?.index ?? 0 { self.snapshot = snapshot }
            answer(.saved(index: snapshot.index), to: journal)
        case .load(let journal): answer(.snapshot(snapshot), to: journal)
        }
    }

    private func append(_ entry: [UInt8], _ entryName: EntryName, by journal: Int) {
        let name = Name(journal: journal, entry: entryName)
        if let index = names[name] {
            return answer(.appended(entryName, index: index), to: journal)
        }
        guard now >= fullEnd else { return answer(.refused(entryName, .isFull), to: journal) }
        entries.append(entry)
        names[name] = lastIndex
        answer(.appended(entryName, index: lastIndex), to: journal)
        for journal in journals where !dice.happens(faults.lostPush) {
            push(lastIndex, to: journal)
            if dice.happens(faults.doubledPush) { push(lastIndex, to: journal) }
        }
    }

    private func push(_ index: UInt64, to journal: SimulatedJournal) {
        journal.receive(
            .entry(index: index, entries[Int(index - firstIndex)]),
            at: now + way(late: faults.lateAnswer))
    }

    private func read(after index: UInt64, by journal: Int) {
        if index + 1 < firstIndex {
            return answer(.trimmed(firstIndex: firstIndex), to: journal)
        }
        guard !dice.happens(faults.lostAnswer) else { return }
        // A machine that is behind the others answers for what it has.
        let behind = dice.happens(faults.staleAnswer) ? min(dice.below(20), entries.count) : 0
        let count = entries.count - behind
        // One answer has many entries, and they stay in their order.
        let time = now + way(late: faults.lateAnswer)
        let first = min(Int(index + 1 - firstIndex), count)
        for place in first..<max(first, min(count, first + Self.batchLimit)) {
            journals[journal].receive(
                .entry(index: firstIndex + UInt64(place), entries[place]), at: time)
        }
        journals[journal].receive(.end(lastIndex: lastIndex - UInt64(behind)), at: time)
    }

    private static let batchLimit = 100

    private func answer(_ event: JournalEvent, to journal: Int) {
        guard !dice.happens(faults.lostAnswer) else { return }
        journals[journal].receive(event, at: now + way(late: faults.lateAnswer))
    }

    func tell(_ beat: Beat, by journal: SimulatedJournal) {
        // Its own comes back, also from a part of the engine that is cut off with it.
        if !journal.isCut || journal.hearsItself {
            journal.receiveOwn(beat, at: now + way(late: 0))
        }
        for other in journals where other !== journal {
            guard !dice.happens(faults.lostBeat), !journal.isCut, !other.isCut,
                !journal.cutPeers.contains(other.host)
            else { continue }
            other.receive(.beat(beat), at: now + way(late: 0))
        }
    }
}

extension SimulatedEngine.Request {
    fileprivate var isLoad: Bool {
        if case .load = self { return true }
        return false
    }
}

extension Dice {
    fileprivate mutating func happens(_ odds: Int) -> Bool { odds > 0 && oneIn(odds) }
}

/// Things by the time at which they are due; those of one time stay in their order.
struct Row<Element> {
    private var elements: [(time: Int64, element: Element)] = []

    mutating func insert(_ element: Element, at time: Int64) {
        var place = elements.count
        while place > 0, elements[place - 1].time > time { place -= 1 }
        elements.insert((time, element), at: place)
    }

    func hasElement(by time: Int64) -> Bool { elements.first.map { $0.time <= time } ?? false }

    mutating func popFirst(by time: Int64) -> (time: Int64, element: Element)? {
        guard let first = elements.first, first.time <= time else { return nil }
        return elements.removeFirst()
    }
}
