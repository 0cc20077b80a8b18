import Synchronization

/// How far a start has come: counted by the thread that restores, told by the one that listens.
final class StartProgress: Sendable {
    private let done = Atomic<Int>(0)
    private let total = Atomic<Int>(0)
    private let hasFinished = Atomic<Bool>(false)

    /// So many rows will be read.
    func expect(rowCount: Int) {
        total.store(rowCount, ordering: .relaxed)
    }

    /// A row was read.
    func countRow() {
        done.add(1, ordering: .relaxed)
    }

    /// All is restored.
    func finish() {
        hasFinished.store(true, ordering: .releasing)
    }

    /// Whether all is restored.
    var isOver: Bool { hasFinished.load(ordering: .acquiring) }

    /// The part of the rows that was read, from 0 to 1, with two digits; 0 while the file is checked.
    var text: String {
        let total = max(1, total.load(ordering: .relaxed))
        let percent = isOver ? 100 : min(100, done.load(ordering: .relaxed) * 100 / total)
        return "\(percent / 100).\(percent / 10 % 10)\(percent % 10)"
    }
}
