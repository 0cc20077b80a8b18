import BelfryBytes
import BelfryCenter
import BelfryCluster
import BelfryHistory
import SimulatedLog
import TestSupport

// The rules that hold under all faults.

extension ClusterWorld {
    // MARK: While it runs

    /// Notes a step that no broker has taken before.
    func note(_ step: Shard.Step, _ process: ClusterProcess) throws(Violation) {
        let index = process.shard.logIndex
        guard !isRewound,
            index > truth.index || process.stepCount > truth.stepCount && index == truth.index
        else { return }
        truth.index = index
        truth.stepCount = process.stepCount
        if let id = step.id {
            for place in programs.indices { programs[place].openEnds.remove(id) }
            noteAcknowledgement(id, at: index)
            noteResume(id, at: index)
            // Its connection was another one until now, whose end comes too late.
            if let place = resumes[id]?.program, !programs[place].openEnds.isEmpty {
                programs[place].isInDoubt = true
            }
        }
        guard let position = step.center, case .told = step.result else { return }
        let center = process.shard.centers[position].name
        for notification in process.effects.notifications {
            try note(notification, center)
        }
        if case .registered(let rows) = process.effects.outcome {
            for row in rows { try note(row) }
        }
        if let id = step.id, let serial = removals[id],
            case .removed(let count) = process.effects.outcome, count > 0
        {
            truth.accounts[serial]?.isRemoved = true
        }
        if let id = step.id, let removal = filterRemovals[id] {
            try note(removal.filter, of: removal.client, center, process)
        }
    }

    private func note(_ notification: Notification, _ center: [UInt8]) throws(Violation) {
        let known = truth.dispatched[center, default: []]
        if notification.sequence <= UInt64(known.count) {
            guard known[Int(notification.sequence) - 1].id == notification.id else {
                throw fail("number \(notification.sequence) was given twice")
            }
            return
        }
        guard notification.sequence == UInt64(known.count) + 1 else {
            throw fail("number \(known.count + 1) is left out")
        }
        truth.dispatched[center, default: []].append(
            ClusterTruth.Dispatch(
                id: notification.id, content: HistoryContent(notification.content)))
        guard let post = postOf[notification.id] else { return }
        guard post.content == HistoryContent(notification.content) else {
            throw fail("\(notification.sequence) was not posted with this content")
        }
        if let sequence = post.dispatchedAs {
            throw fail(
                """
                post \(post.ids.map(\.low)) is dispatched as \(sequence) \
                and as \(notification.sequence)
                """
            )
        }
        post.dispatchedAs = notification.sequence
        if post.refusedIDs.contains(notification.id) {
            throw fail(
                "\(notification.sequence) is dispatched, and its poster was told that it is not")
        }
        guard let (line, place) = post.line else { return }
        if let last = line.dispatched.last, last > place {
            throw fail("post \(last) of a connection is dispatched before post \(place)")
        }
        line.dispatched.append(place)
    }

    /// A client's observers with a filter are removed, those that the log has by now (rule P6).
    private func note(
        _ filter: HistoryFilter, of client: UInt64, _ center: [UInt8], _ process: ClusterProcess
    ) throws(Violation) {
        guard case .removed(let count) = process.effects.outcome else { return }
        let gone = truth.accounts.filter { _, account in
            account.client == client && programs[account.program].center == center
                && !account.isRemoved && filter.isPart(of: account.filter)
        }
        guard gone.count == count else {
            throw fail("rule P6: \(count) were removed, expected \(gone.keys.sorted())")
        }
        for serial in gone.keys { truth.accounts[serial]?.isRemoved = true }
        self.count("removals by filter: \(count > 0 ? "some" : "none")")
    }

    private func note(_ row: ObserverRow) throws(Violation) {
        guard truth.accounts[row.serial] == nil else {
            throw fail("o\(row.serial) is given twice")
        }
        guard let program = programs.firstIndex(where: { $0.client == row.client }) else { return }
        truth.accounts[row.serial] = ClusterAccount(
            program: program, client: row.client, name: row.name, object: row.object,
            filter: HistoryFilter(row.role.filter), since: row.since,
            isHeld: row.terms.suspensionBehavior == .hold, acknowledges: row.terms.acknowledges)
    }

    func noteAnswer(_ post: ClusterPost, _ process: ClusterProcess) throws(Violation) {
        if isRewound { return }
        switch process.effects.outcome {
        case .done, .replayed: break
        case let outcome: throw fail("a post was answered with \(outcome)")
        }
        guard let receipt = process.effects.receipts.first else {
            throw fail("a post was answered without a receipt")
        }
        tell("post \(post.ids.map(\.low)) is answered: \(process.effects.outcome) \(receipt)")
        post.isAnswered = true
        count("posts answered")
        guard receipt.state == .posted, receipt.sequence != 0 else { return }
        if post.dispatchedAs != receipt.sequence {
            throw fail(
                """
                a post was answered with \(receipt.sequence), \
                and is \(String(describing: post.dispatchedAs))
                """
            )
        }
    }

    func noteFailure(_ failure: CommandFailure, of post: ClusterPost, _ id: NotificationID) {
        guard case .unavailable = failure else { return }
        post.refusedIDs.append(id)
        if !isRewound, truth.dispatched[post.center, default: []].contains(where: { $0.id == id }) {
            problem = problem ?? fail("a post that was dispatched is refused: \(failure)")
        }
    }

    /// Brokers with the same entries have one past and one state, and the log's time is not ahead.
    func judgeState(_ node: ClusterNode, _ process: ClusterProcess) throws(Violation) {
        if let problem { throw problem }
        let index = process.shard.logIndex
        guard !isRewound, index > 0, process.judgedIndex != index else { return }
        process.judgedIndex = index
        let chain = process.shard.chain
        if let known = truth.chains[index], known != chain {
            throw fail("n\(node.number) has another past at \(index)")
        }
        truth.chains[index] = chain
        if let digest = digest(of: process.shard, at: index) {
            if let known = truth.digests[index], known != digest {
                throw fail("n\(node.number) has another state at \(index)")
            }
            truth.digests[index] = digest
        }
        try judgeTime(process, through: index)
    }

    /// The digest of the state, or of its snapshot, at some indexes: both take long.
    private func digest(of shard: Shard, at index: UInt64) -> UInt64? {
        if index.isMultiple(of: 256) { return stateDigest(of: shard) }
        return index.isMultiple(of: 8) ? stateDigest(of: shard.snapshot()) : nil
    }

    /// The time of the log is not ahead of the true one, but for a clock that jumped.
    ///
    /// Such a jump lies between two entries.
    private func judgeTime(
        _ process: ClusterProcess, through index: UInt64
    ) throws(Violation) {
        let ahead = process.shard.logTime - now - now / 5_000
        while truth.timedIndex < index {
            truth.timedIndex += 1
            guard truth.timedIndex >= engine.firstIndex,
                let entry = try? Entry(
                    code: engine.entries[Int(truth.timedIndex - engine.firstIndex)])
            else { continue }
            // The entry states how long ago the one before it was applied: no better time is known.
            if entry.appliedIndex + 1 == truth.timedIndex, hasWildClock {
                truth.believedAhead = max(truth.believedAhead, ahead)
            }
        }
        if ahead > truth.believedAhead {
            throw fail("the log is \(ahead / 1_000_000) ms ahead")
        }
    }

    /// Checks that no client stays connected to a broker that hears nothing.
    func judgeSilence() throws(Violation) {
        for node in nodes {
            guard let cutSince = node.cutSince, now - cutSince > 3_000_000_000,
                node.standsStillUntil + 3_000_000_000 <= now, let process = node.process
            else { continue }
            for (number, connection) in process.connections where connection.endedAt == nil {
                let at = programs[connection.program].place
                if at?.node == node.number, at?.connection == number {
                    throw fail(
                        "program \(connection.program) is at n\(node.number), which is cut off")
                }
            }
        }
    }

    /// Checks that the life of a broker that all others could hear was not ended.
    func judgeFence(_ reason: FenceReason, _ node: ClusterNode) throws(Violation) {
        if reason == .declaredDown, node.hasBeenWell, !losesBeats {
            throw fail("n\(node.number) is declared down, and nothing was wrong with it")
        }
    }

    func judgeStop(_ reason: StopReason, _ node: ClusterNode) throws(Violation) {
        if isRewound { return }
        if case .tooOldForLevel(askedLevel) = reason,
            let level = node.process?.sequencer.options.level, level < askedLevel
        {
            return
        }
        throw fail("n\(node.number) stops: \(reason)")
    }

    // MARK: When it is over

    func judgeEnd() throws(Violation) {
        if let level = nodes[0].process?.shard.level, level > firstLevel { count("levels raised") }
        for node in nodes {
            guard let process = node.process else { throw fail("n\(node.number) is not there") }
            if case .stopped = process.sequencer.stage { continue }
            guard process.sequencer.stage == .up else {
                throw fail("n\(node.number) is not up: \(process.sequencer.stage)")
            }
            if !process.requests.values.allSatisfy({ if case .post = $0 { false } else { true } }) {
                throw fail("a post at n\(node.number) was never answered")
            }
        }
        for post in posts where post.isAnswered && post.dispatchedAs == nil {
            throw fail(
                "post \(post.ids[0].low) was answered and never dispatched")
        }
        for (serial, account) in truth.accounts.sorted(by: { $0.key < $1.key }) {
            try judge(account, serial)
        }
    }

    /// An observer has what it must have, or was told what it has not.
    private func judge(_ account: ClusterAccount, _ serial: UInt64) throws(Violation) {
        let program = programs[account.program]
        guard !account.isRemoved else { return }
        guard program.isReady else { throw fail("program \(account.program) has not come back") }
        // Unacknowledged deliveries come again on each connection.
        let seen =
            account.acknowledges ? account.here.union(account.answered) : Set(account.seen)
        let dispatched = truth.dispatched[program.center, default: []]
        for (place, dispatch) in dispatched.enumerated() {
            let sequence = UInt64(place) + 1
            let isFor =
                sequence > account.since
                && dispatch.content.matches(
                    name: account.name, object: account.object, account.filter)
            guard isFor != seen.contains(sequence) else { continue }
            guard isFor else { throw fail("o\(serial) has \(sequence), which is not for it") }
            let gaps = account.gaps.filter {
                $0.firstSequence <= sequence && sequence <= $0.lastSequence
            }
            if gaps.isEmpty {
                // A program that does not say what it has seen is told nothing of what was on its
                // way to it, unless it is asked for an answer (rule D14).
                if !program.saysSeen, !account.acknowledges,
                    account.lost.contains(where: { $0.contains(sequence) })
                {
                    continue
                }
                throw fail("o\(serial) misses \(sequence), and was not told")
            }
            if account.isHeld, !gaps.contains(where: { $0.reason == .unknown }) {
                throw fail("o\(serial) is told \(gaps) of \(sequence), which is held")
            }
        }
    }

    /// The engine's files are put back: every broker that knows more stops, and says so.
    func finishRewound() throws(Violation) {
        try wait(seconds: 3)
        let count = UInt64(dice.number(in: 1...60))
        guard engine.lastIndex > count + 1, engine.lastIndex - count >= engine.firstIndex else {
            return
        }
        isRewound = true
        let index = engine.lastIndex - count
        var knowing = nodes.filter {
            $0.process?.sequencer.stage == .up && ($0.process?.shard.logIndex ?? 0) > index
        }
        // One was away meanwhile, and the log is longer again than what it knows.
        let away = dice.oneIn(2) ? dice.pick(knowing) : nil
        if let away {
            away.process?.journal.isCut = true
            for node in nodes where node !== away {
                if let process = node.process { end(node, process, isOrderly: false) }
                node.startsAt = now
            }
            knowing = [away]
        }
        let past = away?.process.map { (index: $0.shard.logIndex, chain: $0.shard.chain) }
        tell("the engine is put back to \(index)")
        engine.rewind(to: index)
        try writeNothing(times: away == nil ? 1 : 200)
        away?.process?.journal.isCut = false
        try wait(seconds: 10)
        if let past, let away {
            // The others have begun anew: what they know they have of the engine. A snapshot that
            // came to it late may have had all that this broker knows, and then nothing of that is
            // lost.
            let others = nodes.filter { $0 !== away && $0.process?.sequencer.stage == .up }
            if others.contains(where: { $0.process?.shard.chain(at: past.index) == past.chain }) {
                return
            }
        }
        for node in knowing {
            guard case .stopped? = node.process?.sequencer.stage else {
                throw fail("n\(node.number) goes on with a log that was put back")
            }
        }
    }

    /// One broker computes otherwise: no broker continues beside another one with another past.
    func finishDiverged() throws(Violation) {
        // An election may take nine seconds, and brokers find it out by entries.
        try wait(seconds: 12)
        guard let process = dice.pick(nodes.filter { $0.process?.sequencer.stage == .up })?.process,
            process.shard.count > 0
        else { return }
        isRewound = true
        tell("a broker computes otherwise")
        process.shard.apply(
            Command(
                id: CommandID(node: 0, incarnation: 0, counter: 0),
                time: CommandTime(
                    wallMilliseconds: 0, monotonicNanoseconds: process.shard.logTime),
                action: .post(
                    Post(
                        id: NotificationID(high: 0, low: 0),
                        content: Notification.Content(name: [1], object: nil, userInfo: nil)),
                    PostTerms())),
            to: 0, into: &process.effects)
        let center = process.shard.centers[0].name
        for _ in 0..<20 {
            for node in nodes {
                guard let process = node.process else { continue }
                submit(.tell(center: center, .endTurn(workLimit: 1)), process)
            }
            try pass(50_000_000)
        }
        try wait(seconds: 5)
        let running = nodes.compactMap(\.process).filter { $0.sequencer.stage == .up }
        let index = running.map(\.shard.logIndex).min() ?? 0
        guard Set(running.map { $0.shard.chain(at: index) }).count <= 1 else {
            throw fail("two brokers go on that know another past")
        }
    }

    /// Brokers notice with the first entry that something is wrong.
    private func writeNothing(times count: Int) throws(Violation) {
        for _ in 0..<count {
            for node in nodes {
                if let process = node.process { submit(.nothing, process) }
            }
            try pass(50_000_000)
        }
    }
}
