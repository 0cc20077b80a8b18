import Synchronization

/// The progress of a start: the thread that restores writes it, the one that listens reads it.
final class StartProgress: Sendable {
    private let percent = Atomic<Int>(0)
    private let hasFinished = Atomic<Bool>(false)

    /// Records the percentage of the store that was read.
    func note(percent: Int) {
        self.percent.store(percent, ordering: .relaxed)
    }

    /// Records that all is restored.
    func finish() {
        hasFinished.store(true, ordering: .releasing)
    }

    /// Whether all is restored.
    var isOver: Bool { hasFinished.load(ordering: .acquiring) }

    /// The part that was read, from 0 to 1, with two digits.
    var text: String {
        let percent = isOver ? 100 : percent.load(ordering: .relaxed)
        return "\(percent / 100).\(percent / 10 % 10)\(percent % 10)"
    }
}
