internal import BelfrySystem

/// The body of the store's thread: it takes the mail, lets the worker do it, and tells the loops.
struct StoreThread: Sendable {
    let mail: Monitor<StoreMail>
    let promises: SharedFlag
    let backlog: SharedFlag
    let onCommit: @Sendable (_ loop: Int, _ ticket: UInt64) -> Void
    let onNotice: @Sendable (StoreNotice) -> Void

    /// The mail that the thread took.
    private struct Delivered: Sendable {
        var batches: [StoreBatch] = []
        var backup: BackupOutcome?
        var isClosing: Bool
        var isAbandoned: Bool
        var deadline: MonotonicTime
    }

    /// Runs until the store is closed, or has no owner any more.
    func run(_ box: WorkerBox) {
        var worker = box.take()
        var isClosing = false
        var deadline = MonotonicTime.distantFuture
        var backlog = Backlog()
        var backup: BackupOutcome?
        while true {
            let delivered = wait(until: min(worker.nextTime, deadline), isClosing: isClosing)
            if let delivered {
                worker.add(delivered.batches)
                isClosing = delivered.isClosing || delivered.isAbandoned
                deadline = delivered.isAbandoned ? .now() : delivered.deadline
                if let asked = delivered.backup {
                    backup = asked
                    worker.beginCopy()
                }
            }
            let now = MonotonicTime.now()
            let isAbandoned = delivered?.isAbandoned ?? false
            let progress = worker.work(at: now)
            let refusalCount = tell(progress, size: worker.size, since: now)
            if let notice = backlog.note(refusalCount: refusalCount, at: now) { onNotice(notice) }
            let isOver = isAbandoned || isClosing && (!worker.hasWork || now >= deadline)
            if isOver {
                backup?(.failure(.closing))
                if isAbandoned { return finish(false) }
                return finish(worker.close())
            }
            for notice in worker.tidy() { onNotice(notice) }
            if let copied = worker.copyOn(), let onOutcome = backup.take() {
                hand(copied, to: onOutcome)
            }
        }
    }

    /// Waits for mail; a closing that is known already is none.
    private func wait(until time: MonotonicTime, isClosing: Bool) -> Delivered? {
        mail.take(until: time) { mail in
            let ends = (mail.isClosing && !isClosing) || mail.isAbandoned
            guard ends || !mail.batches.isEmpty || mail.backup != nil else { return nil }
            var delivered = Delivered(
                isClosing: mail.isClosing, isAbandoned: mail.isAbandoned,
                deadline: mail.closingDeadline)
            swap(&delivered.batches, &mail.batches)
            swap(&delivered.backup, &mail.backup)
            return delivered
        }
    }

    /// - Returns: how many promises the backlog has refused.
    private func tell(
        _ progress: StoreWorker<StoreFile>.Progress, size: StoreSize, since start: MonotonicTime
    ) -> UInt64 {
        let growth = progress.committed.reduce(0) { $0 + $1.growth }
        let time = MonotonicTime.now() - start
        let stoodStill = !progress.committed.isEmpty && mail.change { $0.standsStill }
        let refusalCount = mail.change { mail in
            if stoodStill { mail.standsStill = false }
            mail.growth -= growth
            mail.passTime = .now()
            mail.figures.commitCount += UInt64(progress.transactionCount)
            mail.figures.committedBatchCount += UInt64(progress.committed.count)
            mail.figures.note(progress.notices)
            mail.figures.commitTimes.add(time, count: progress.transactionCount)
            mail.figures.size = size
            mail.weightLimit = progress.weightLimit
            mail.refusal = progress.refusal
            promises.value = mail.acceptsPromises
            backlog.value = mail.isBehind
            return mail.figures.refusals[.behind, default: 0]
        }
        for batch in progress.committed where batch.endsTurn { onCommit(batch.loop, batch.ticket) }
        for notice in progress.notices { onNotice(notice) }
        if stoodStill, progress.refusal == nil, !progress.notices.contains(.recovered) {
            onNotice(.recovered)
        }
        return refusalCount
    }

    /// Gives a copy to a thread of its own, or tells why there is none.
    private func hand(
        _ copied: Result<BackupFile, StoreError>, to onOutcome: @escaping BackupOutcome
    ) {
        let onEnd: @Sendable () -> Void = { [mail] in mail.change { $0.isBackingUp = false } }
        switch copied {
        case .failure(let error):
            onEnd()
            onOutcome(.failure(.failed(error)))
        case .success(let file):
            let reader = BackupReader(file: file, onOutcome: onOutcome, onEnd: onEnd)
            do throws(SystemCallError) {
                // The thread is not joined: it ends when the copy has no owner any more.
                _ = try SystemThread { reader.run() }
            } catch {
                reader.fail(StoreError(error))
            }
        }
    }

    private func finish(_ endedInOrder: Bool) {
        let onEnd = mail.change { mail in
            mail.outcome = endedInOrder
            return mail.onEnd
        }
        onEnd()
    }
}
