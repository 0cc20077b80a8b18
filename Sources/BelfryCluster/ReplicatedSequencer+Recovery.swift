import BelfryCenter

// Recovery of a log that has lost entries: it continues with the state of one broker, which an
// operator chooses.

extension ReplicatedSequencer {
    /// How far the recovery is.
    struct Recovery {
        /// An entry without effect, where the log continues; brokers with another past stop there.
        let entry: Entry
        /// The state behind that entry; nil as long as its place is unknown.
        var snapshot: JournalSnapshot?
        var askedAt: Int64
    }

    /// Lets the log continue with the state of this broker, which stopped over a loss.
    ///
    /// The other brokers stop at the next entry, if they have not stopped; they take part again
    /// after a new start.
    ///
    /// - Returns: whether it begins, or has begun.
    public func recover(at now: Int64) -> Bool {
        if stage == .recovering { return true }
        guard case .stopped(let reason) = stage, reason.isLoss else { return false }
        stage = .recovering
        life = newLife(after: life)
        recovery = Recovery(
            entry: Entry(
                node: options.node, life: life, number: 1, appliedIndex: applied.index,
                chain: applied.chain, elapsed: 0, wallMilliseconds: wallNow,
                commands: [Entry.Numbered(counter: 1, action: .nothing)]),
            askedAt: now)
        askForRecovery()
        return true
    }

    /// Repeats the request that has no answer yet.
    func goOnRecovering(at now: Int64) {
        guard let recovery, now - recovery.askedAt >= ClusterOptions.askInterval else { return }
        self.recovery?.askedAt = now
        askForRecovery()
    }

    private func askForRecovery() {
        guard let recovery else { return }
        if let snapshot = recovery.snapshot { return journal.save(snapshot) }
        journal.append(recovery.entry.code, as: EntryName(life: life, number: 1, attempt: 0))
    }

    /// Takes an event while the log is recovered: other entries are ignored.
    func recover(with event: JournalEvent, _ shard: inout Shard, at now: Int64) {
        guard let recovery else { return }
        switch event {
        case .appended(let name, let index) where name.life == life && recovery.snapshot == nil:
            var digits: UInt64 { random() & 0xFFFF_FFFF_FFFF }
            shard.recover(at: index, chain: random()) {
                Array(String(digits + 0x1_0000_0000_0000, radix: 16).utf8.dropFirst())
            }
            self.recovery?.snapshot = JournalSnapshot(shard)
            self.recovery?.askedAt = now
            askForRecovery()
        case .saved(let index) where index == recovery.snapshot?.index:
            self.recovery = nil
            applied = Mark(index: index, chain: shard.chain, appliedAt: now)
            handed = applied
            said = applied
            knownIndex = index
            recent = RecentEntries()
            recent.note(recovery.entry, at: index)
            (firstKnownIndex, uselessLoadCount, loggedByteCount, trimIndex) = (0, 0, 0, nil)
            stage = .catchingUp
            readAskedAt = nil
            happenings.append(.loaded)
            ask(at: now)
        default: break
        }
    }
}
