public import BelfryCenter

// The work of a broker as time passes: it gives signs of life, checks those of the others, and
// appends again.

extension ReplicatedSequencer {
    /// Time has passed; called at least each 100 ms, when ``next(_:at:into:)`` has nothing more.
    public func tick(_ shard: borrowing Shard, at now: Int64) {
        // A broker that was paused itself has heard no beats, even if there were any.
        if now - tickedAt > ClusterOptions.standstill { hearsSince = now }
        tickedAt = now
        switch stage {
        case .left, .stopped: return
        case .loading:
            if now - (loadAskedAt ?? 0) >= ClusterOptions.askInterval { load(at: now) }
            return
        case .recovering: return goOnRecovering(at: now)
        case .catchingUp: ask(at: now)
        // The others may have read that it is up before it has.
        case .comingUp: beat(at: now)
        case .up, .leaving: if !watchSelf(at: now) { return }
        }
        askForMissing(at: now)
        appendAgain(at: now)
        refuseOverdue(at: now)
        guard stage == .up else { return }
        let rank = rank(in: shard)
        endSilentLives(shard, rank: rank, at: now)
        appendForOthers(shard, rank: rank, at: now)
        if rank == 0 { makeSnapshot(shard, at: now) }
        keepSnapshot()
    }

    /// The place of this broker among those that are up.
    private func rank(in shard: borrowing Shard) -> Int {
        shard.brokers.filter(\.isUp).firstIndex { $0.name == options.node } ?? 0
    }

    // MARK: This broker

    /// Gives a sign of life, and ends a life that hears no other broker.
    ///
    /// - Returns: whether the life continues.
    private func watchSelf(at now: Int64) -> Bool {
        if now - contactAt >= options.fenceAfter {
            fence(.heardNothing)
            return false
        }
        if let first = underWay.first, now - first.firstAppendedAt >= options.quorumWait {
            fence(.noQuorum)
            return false
        }
        beat(at: now)
        return true
    }

    private func beat(at now: Int64) {
        guard now - beatAt >= ClusterOptions.beatInterval else { return }
        beatAt = now
        journal.tell(Beat(node: options.node, life: life, appliedIndex: applied.index))
    }

    /// The log has more than was told.
    private func askForMissing(at now: Int64) {
        guard knownIndex > applied.index,
            now - applied.appliedAt >= ClusterOptions.pushPatience
        else { return }
        askForHole(at: now)
    }

    private func appendAgain(at now: Int64) {
        for place in underWay.indices {
            if !underWay[place].isGivenUp,
                now - underWay[place].firstAppendedAt >= ClusterOptions.unknownAfter
            {
                underWay[place].isGivenUp = true
                fail(underWay[place].commands, .unknownOutcome)
            }
            guard let appendedAt = underWay[place].appendedAt,
                now - appendedAt >= underWay[place].retryInterval
            else { continue }
            append(at: place, at: now)
        }
    }

    private func refuseOverdue(at now: Int64) {
        fail(
            waiting.takeRefusable(submittedBy: now - ClusterOptions.patience),
            .unavailable(.noQuorum))
    }

    // MARK: The others

    /// Another broker has told that it is there.
    func take(_ beat: Beat, at now: Int64) {
        guard beat.node != options.node else { return }
        contactAt = now
        heardAt[beat.node] = now
        knownIndex = max(knownIndex, beat.appliedIndex)
    }

    private func endSilentLives(_ shard: borrowing Shard, rank: Int, at now: Int64) {
        // A broker that hears no beats cannot tell who is silent.
        guard now - contactAt <= ClusterOptions.beatInterval else { return }
        for broker in shard.brokers where broker.isUp && broker.name != options.node {
            let silence = now - max(heardAt[broker.name] ?? hearsSince, hearsSince)
            guard silence >= options.downAfter + Int64(rank) * ClusterOptions.rankInterval,
                now - (endAskedAt[broker.name] ?? .min / 2) >= ClusterOptions.askInterval
            else { continue }
            endAskedAt[broker.name] = now
            write(.nodeDown(broker.name, life: broker.life), at: now)
        }
    }

    /// Appends an entry without a command, where the log or the others need one.
    private func appendForOthers(_ shard: borrowing Shard, rank: Int, at now: Int64) {
        guard !isWaiting else { return }
        // Whether the engine is there; and how far this broker is, for the clients that it may
        // lose.
        if now - contactAt >= ClusterOptions.beatInterval
            || isUntold && now - lastAppendAt >= ClusterOptions.beatInterval
            || isDue(shard, rank: rank, at: now)
        {
            write(.nothing, at: now)
        }
    }

    /// Whether a center has work by itself, and no broker of an earlier rank has written its entry.
    private func isDue(_ shard: borrowing Shard, rank: Int, at now: Int64) -> Bool {
        guard dueIndex != applied.index else { return false }
        // Entries tell time in milliseconds.
        let logTime = shard.logTime + max(0, now - applied.appliedAt) / 1_000_000 * 1_000_000
        guard shard.dueTime <= logTime else {
            dueSince = nil
            return false
        }
        let since = dueSince ?? now
        dueSince = since
        guard now - since >= Int64(rank) * ClusterOptions.rankInterval else { return false }
        dueIndex = applied.index
        dueSince = nil
        return true
    }

    // MARK: Snapshots

    private func makeSnapshot(_ shard: borrowing Shard, at now: Int64) {
        guard snapshotWork == nil,
            loggedByteCount >= options.snapshotByteCount
                || loggedByteCount > 0 && now - snapshotAt >= options.snapshotInterval
        else { return }
        snapshotWork = beginSnapshot(copy shard)
        // Without room for one more thread it is tried again later.
        snapshotAt = now
        if snapshotWork != nil { loggedByteCount = 0 }
    }

    /// Gives the journal the finished snapshot.
    private func keepSnapshot() {
        guard let snapshot = snapshotWork?.snapshot else { return }
        snapshotWork = nil
        journal.save(snapshot)
    }
}
