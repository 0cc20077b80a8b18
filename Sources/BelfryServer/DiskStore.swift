import BelfryCenter
import BelfryLoop
import BelfryStore
import BelfrySystem
import Synchronization

/// The store on the disk: its commits become mail of the loops, and its troubles entries of the log.
final class DiskStore: StoreDoor {
    private let store: Store
    private let tally: StoreTally

    init(
        _ file: consuming sending StoreFile, mailboxes: [LoopMailbox<LoopMessage>], log: ServerLog
    ) throws(StoreError) {
        let tally = StoreTally()
        self.tally = tally
        store = try Store(
            file,
            onCommit: { loop, ticket in
                tally.noteCommit()
                // A later commit tells of this one too, should the mailbox be full.
                _ = mailboxes[loop].post(.committed(ticket))
            },
            onNotice: { notice in
                tally.note(notice)
                log.write(notice)
            })
    }

    func hand(_ batch: StoreBatch) {
        tally.noteBatch(changeCount: batch.changeCount)
        store.submit(batch)
    }

    var takesPromises: Bool { store.acceptsPromises }

    var figures: StoreFigures {
        var figures = tally.figures
        figures.takesPromises = takesPromises
        figures.commits = UInt64(store.commitCount)
        return figures
    }

    var isFailing: Bool { tally.isFailing }

    func end(telling mailboxes: [LoopMailbox<LoopMessage>]) {
        store.beginClosing {
            for mailbox in mailboxes { _ = mailbox.post(.released) }
        }
    }

    /// Commits what waits, and ends the life of the store.
    ///
    /// - Returns: whether everything is committed.
    func close() -> Bool { store.close() }
}

/// What a store tells of itself in the metrics.
struct StoreFigures: Equatable {
    var batches: UInt64 = 0
    var committedBatches: UInt64 = 0
    /// Transactions; all turns that wait are committed in one.
    var commits: UInt64 = 0
    var changes: UInt64 = 0
    var failures: UInt64 = 0
    var takesPromises = true
}

/// Counts what a store does, from all threads.
private final class StoreTally: Sendable {
    private let batches = Atomic<UInt64>(0)
    private let committedBatches = Atomic<UInt64>(0)
    private let changes = Atomic<UInt64>(0)
    private let failures = Atomic<UInt64>(0)
    private let failing = Atomic(false)

    func noteBatch(changeCount: Int) {
        batches.add(1, ordering: .relaxed)
        changes.add(UInt64(changeCount), ordering: .relaxed)
    }

    func noteCommit() {
        committedBatches.add(1, ordering: .relaxed)
    }

    func note(_ notice: StoreNotice) {
        switch notice {
        case .failed:
            failures.add(1, ordering: .relaxed)
            failing.store(true, ordering: .relaxed)
        case .recovered: failing.store(false, ordering: .relaxed)
        case .oversized, .logStays: break
        }
    }

    var isFailing: Bool { failing.load(ordering: .relaxed) }

    var figures: StoreFigures {
        var figures = StoreFigures()
        figures.batches = batches.load(ordering: .relaxed)
        figures.committedBatches = committedBatches.load(ordering: .relaxed)
        figures.changes = changes.load(ordering: .relaxed)
        figures.failures = failures.load(ordering: .relaxed)
        return figures
    }
}

extension ServerLog {
    /// Tells what happened to the store.
    fileprivate func write(_ notice: StoreNotice) {
        switch notice {
        case .failed(.full):
            write(.error, "the disk is full: nothing new that must last is taken")
        case .failed(let error):
            write(
                .error, "the store cannot write: nothing new that must last is taken",
                ("error", "\(error)"))
        case .recovered:
            write(.info, "the store writes again")
        case .oversized(let byteCount, let limit):
            write(
                .error, "the store is as large as it may be: nothing new that must last is taken",
                ("bytes", "\(byteCount)"), ("limit", "\(limit)"))
        case .logStays(let error):
            write(.warning, "the log of the store cannot be cleared", ("error", "\(error)"))
        }
    }
}
