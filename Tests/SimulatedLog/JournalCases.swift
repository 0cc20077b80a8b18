package import BelfryCluster

/// The rules of every journal, whatever engine is behind it: the same cases for each.
///
/// A case reports its fault as text, so that a program may run it beside the suite.
package struct JournalCases {
    /// Makes a journal of the log of a case; the first journal of a case begins a new log.
    let makeJournal: (_ isFirst: Bool) -> any Journal
    /// Lets all that is under way arrive.
    let settle: () -> Void

    package init(
        makeJournal: @escaping (_ isFirst: Bool) -> any Journal, settle: @escaping () -> Void
    ) {
        self.makeJournal = makeJournal
        self.settle = settle
    }

    package typealias Case = @Sendable (JournalCases) -> [String]

    /// All cases, by their names.
    package static let all: [(name: String, run: Case)] = [
        ("entries have indices from 1 on, and all journals tell them in order", { $0.order() }),
        ("what is appended again under its name is not appended", { $0.sameName() }),
        ("entries behind an index are told again, and then the end", { $0.reading() }),
        ("reading an empty log tells its end", { $0.empty() }),
        ("what was trimmed is told as such", { $0.trimming() }),
        ("the last whole snapshot is kept, and none is none", { $0.snapshots() }),
        ("a beat reaches the others, and may come back", { $0.beats() }),
        ("an entry of 512 KiB is told byte by byte", { $0.large() }),
    ]

    private func name(_ number: UInt64, attempt: UInt64 = 0) -> EntryName {
        EntryName(life: 1, number: number, attempt: attempt)
    }

    /// The events of a journal once all has arrived, as text.
    private func events(of journal: any Journal) -> [String] {
        settle()
        var told: [String] = []
        while let event = journal.next() {
            switch event {
            case .entry(let index, let bytes): told.append("entry \(index) \(bytes.prefix(4))")
            case .appended(let name, let index):
                told.append("appended \(name.number).\(name.attempt) \(index)")
            case .refused(let name, let refusal): told.append("refused \(name.number) \(refusal)")
            case .end(let lastIndex): told.append("end \(lastIndex)")
            case .trimmed(let firstIndex): told.append("trimmed \(firstIndex)")
            case .snapshot(let snapshot):
                told.append("snapshot \(snapshot.map { "\($0.index) \($0.state)" } ?? "none")")
            case .saved(let index): told.append("saved \(index)")
            case .reconnected: told.append("reconnected")
            case .beat(let beat): told.append("beat \(beat.node) \(beat.life) \(beat.appliedIndex)")
            }
        }
        return told
    }

    /// The difference; an answer and an entry may come in any order, since they take two ways.
    private func difference(_ found: [String], _ expected: [String]) -> [String] {
        func entries(_ all: [String]) -> [String] { all.filter { $0.hasPrefix("entry") } }
        let isSame = entries(found) == entries(expected) && found.sorted() == expected.sorted()
        return isSame ? [] : ["told \(found), expected \(expected)"]
    }

    private func order() -> [String] {
        let (first, second) = (makeJournal(true), makeJournal(false))
        _ = events(of: second)
        first.append([1], as: name(1))
        settle()
        first.append([2], as: name(2))
        let entries = ["entry 1 [1]", "entry 2 [2]"]
        return difference(
            events(of: first), entries + ["appended 1.0 1", "appended 2.0 2"])
            + difference(events(of: second), entries)
    }

    private func sameName() -> [String] {
        let journal = makeJournal(true)
        for attempt: UInt64 in [0, 0, 1] {
            journal.append([7], as: name(1, attempt: attempt))
            settle()
        }
        return difference(
            events(of: journal),
            [
                "entry 1 [7]", "entry 2 [7]", "appended 1.0 1", "appended 1.0 1", "appended 1.1 2",
            ])
    }

    private func fill(_ journal: any Journal) {
        for number: UInt64 in 1...3 {
            journal.append([UInt8(number)], as: name(number))
            settle()
        }
        _ = events(of: journal)
    }

    private func reading() -> [String] {
        let journal = makeJournal(true)
        fill(journal)
        let late = makeJournal(false)
        late.read(after: 1)
        var problems = difference(
            events(of: late), ["entry 2 [2]", "entry 3 [3]", "end 3"])
        late.read(after: 3)
        problems += difference(events(of: late), ["end 3"])
        return problems
    }

    private func empty() -> [String] {
        let journal = makeJournal(true)
        journal.read(after: 0)
        return difference(events(of: journal), ["end 0"])
    }

    private func trimming() -> [String] {
        let journal = makeJournal(true)
        fill(journal)
        journal.trim(through: 2)
        settle()
        journal.read(after: 1)
        var problems = difference(events(of: journal), ["trimmed 3"])
        journal.read(after: 2)
        problems += difference(events(of: journal), ["entry 3 [3]", "end 3"])
        journal.append([4], as: name(4))
        problems += difference(events(of: journal), ["entry 4 [4]", "appended 4.0 4"])
        // The log has nothing any more, and keeps its place.
        journal.trim(through: 4)
        settle()
        journal.read(after: 4)
        return problems + difference(events(of: journal), ["end 4"])
    }

    private func snapshots() -> [String] {
        let journal = makeJournal(true)
        journal.load()
        var problems = difference(events(of: journal), ["snapshot none"])
        for index: UInt64 in [5, 9] {
            journal.save(JournalSnapshot(index: index, state: [UInt8(index), 1]))
            problems += difference(events(of: journal), ["saved \(index)"])
        }
        let other = makeJournal(false)
        other.load()
        return problems + difference(events(of: other), ["snapshot 9 [9, 1]"])
    }

    private func beats() -> [String] {
        let (first, second) = (makeJournal(true), makeJournal(false))
        settle()
        first.tell(Beat(node: [110], life: 1 << 60, appliedIndex: 3))
        let beat = "beat [110] \(UInt64(1) << 60) 3"
        return difference(events(of: first).filter { $0 != beat }, [])
            + difference(events(of: second), [beat])
    }

    private func large() -> [String] {
        let journal = makeJournal(true)
        let entry = (0..<512 << 10).map { UInt8(truncatingIfNeeded: $0 / 7) }
        journal.append(entry, as: name(1))
        settle()
        var isTold = false
        while let event = journal.next() {
            if case .entry(1, entry) = event { isTold = true }
        }
        return isTold ? [] : ["the entry is not told as it was appended"]
    }
}
