import BelfryLoop
import BelfryStore
import BelfrySystem
import BelfryWire

/// The store on the disk: commits become mail of the loops, and faults become log entries.
final class DiskStore: StoreDoor {
    private let store: Store
    private let failing: SharedFlag
    private let log: ServerLog

    init(
        _ file: consuming sending StoreFile, mailboxes: [LoopMailbox<LoopMessage>], log: ServerLog
    ) throws(StoreError) {
        let failing = SharedFlag(false)
        self.failing = failing
        self.log = log
        store = try Store(
            file,
            onCommit: { loop, ticket in
                // A later commit covers this one, too, should the mailbox be full.
                _ = mailboxes[loop].post(.committed(ticket))
            },
            onNotice: { notice in
                switch notice {
                case .failed, .standsStill: failing.value = true
                case .recovered: failing.value = false
                case .oversized, .fits, .behind, .caughtUp, .logStays: break
                }
                log.write(notice)
            })
    }

    func hand(_ batch: StoreBatch) {
        store.submit(batch)
    }

    var takesPromises: Bool { store.acceptsPromises }

    var isBehind: Bool { store.isBehind }

    var figures: StoreFigures { store.figures }

    func noteRefusal() {
        store.noteRefusal()
    }

    var isFailing: Bool { failing.value }

    var isFull: Bool { store.isFull }

    func noteStandstill() { store.noteStandstill() }

    func isHeldUp(for time: Duration) -> Bool { store.isHeldUp(for: time) }

    var keepsNothing: Bool { store.keepsNothing }

    func end(telling mailboxes: [LoopMailbox<LoopMessage>]) {
        store.beginClosing {
            for mailbox in mailboxes { _ = mailbox.post(.released) }
        }
    }

    func backUp(_ onOutcome: @escaping BackupOutcome) throws(BackupError) {
        let start = MonotonicTime.now()
        try store.backUp { [log] outcome in
            let milliseconds = (MonotonicTime.now().nanoseconds - start.nanoseconds) / 1_000_000
            switch outcome {
            case .success(let copy):
                log.write(
                    .info, "a backup is made", ("bytes", copy.byteCount),
                    ("ms", milliseconds))
            case .failure(let error):
                log.write(.warning, "there is no backup", ("error", Problem(error).detail))
            }
            onOutcome(outcome)
        }
    }

    /// Commits waiting changes, and ends the life of the store.
    ///
    /// - Returns: whether everything is committed.
    func close() -> Bool { store.close() }
}

extension ServerLog {
    /// Logs the losses of a start with a damaged store.
    func write(_ losses: StoreLosses) {
        if losses.pageCount > 0 {
            write(
                .warning, "a part of the store's log is lost: what was committed last is missing",
                ("pages", losses.pageCount), ("commits", losses.commitCount))
        }
        if let count = losses.savedRowCount {
            let unreadable = losses.unreadableTables.map(\.rawValue).joined(separator: ", ")
            write(
                .warning,
                """
                the store's file was damaged: what could be read is in a new one, and all that the \
                rest of these tables had is lost; the old one is belfry.db.damaged
                """,
                ("saved", count), ("unreadable", unreadable))
        }
        if !losses.rows.isEmpty {
            write(
                .warning, "damaged rows of the store are lost",
                ("rows", StoreError.text(of: losses.rows)))
        }
    }

    /// Logs a notice of the store.
    fileprivate func write(_ notice: StoreNotice) {
        switch notice {
        case .failed(.full):
            write(.error, "the disk is full: nothing new that must last is taken")
        case .failed(.displaced(let part)):
            write(
                .error,
                """
                the store is not where it was: nothing new that must last is taken, and nothing is \
                committed, until it is put back as it was or the broker starts again
                """,
                ("missing", part.rawValue))
        case .failed(let error):
            write(
                .error, "the store cannot write: nothing new that must last is taken",
                ("error", error.sentence))
        case .standsStill:
            write(
                .error,
                "the store has not answered in time (--store-answer-timeout): the broker refuses "
                    + "what must last until it does; check the disk")
        case .recovered:
            write(.info, "the store writes again, and takes what must last")
        case .oversized(let byteCount, let limit):
            write(
                .error, "the store is as large as it may be: nothing new that must last is taken",
                ("bytes", byteCount), ("limit", limit))
        case .fits(let byteCount, let limit):
            write(
                .info, "the store is smaller than it may be: it takes what must last",
                ("bytes", byteCount), ("limit", limit))
        case .behind(let count):
            write(
                .warning,
                "more waits to be stored than may wait: some of what must last is refused",
                ("refused", count))
        case .caughtUp(let count):
            write(
                .info, "nothing is refused any more because of what waits to be stored",
                ("refused", count))
        case .logStays(let error):
            write(.warning, "the log of the store cannot be cleared", ("error", error.sentence))
        }
    }
}
