// Posts of all styles: a refusal comes before anything has changed (rules Q1 to Q9).

extension NotificationCenter {
    /// Posts one or several notifications in one callout, all or nothing.
    mutating func post(
        _ posts: [Post], _ terms: PostTerms, _ command: CommandID, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        if let key = terms.details?.key, try repeats(key, command, at: time, &effects) { return }
        let depths = try depths(of: posts)
        try check(posts, terms, depths, at: time)
        begin(terms)
        defer { endPosting() }
        dispatching.hasRecounted = false
        let byteLimit = schedule.queue.byteCount.adding(terms.queueByteRoom)
        for place in posts.indices {  // Bound: batch
            try post(
                posts[place], depth: depths[place], terms, byteLimit: byteLimit, at: time,
                &effects)
        }
        if dispatching.hasRecounted { recountAnswer(&effects) }
        finish(terms, command, at: time, &effects)
    }

    /// Posts one notification in one callout.
    mutating func post(
        _ post: borrowing Post, _ terms: PostTerms, _ command: CommandID, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        if let key = terms.details?.key, try repeats(key, command, at: time, &effects) { return }
        let depth = post.causedBy == nil ? 1 : try depth(causedBy: post.causedBy, place: 0)
        try checkMode(of: post, place: 0)
        if limits.isDurable, !terms.canStore {
            if mustStore(post, terms) { throw .cannotStore }
            try checkSequence(postCount: 1)
        }
        begin(terms)
        defer { endPosting() }
        // The queue refuses it before it changes anything.
        let byteLimit = schedule.queue.byteCount.adding(terms.queueByteRoom)
        try self.post(post, depth: depth, terms, byteLimit: byteLimit, at: time, &effects)
        finish(terms, command, at: time, &effects)
    }

    /// Updates the answer of a batch to the state of its posts at the end.
    ///
    /// A later post may have changed the result of an earlier one.
    private mutating func recountAnswer(_ effects: inout Effects) {
        let rows = Dictionary(grouping: dispatching.recountedRows, by: \.id)
        for place in effects.receipts.indices {  // Bound: batch
            let id = effects.receipts[place].id
            if let receipt = history.fates.current(id) { effects.receipts[place] = receipt }
            guard place < effects.reports.count else { continue }
            for (_, row) in rows[id] ?? [] {  // Bound: effects
                effects.reports[place].update(row)
            }
        }
    }

    /// Posts one notification without options or a key, for which no check is needed.
    mutating func postPlainly(
        _ post: borrowing Post, _ terms: PostTerms, _ command: CommandID, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        let depth = post.causedBy == nil ? 1 : try depth(causedBy: post.causedBy, place: 0)
        begin(terms)
        dispatch(
            Dispatch(id: post.id, content: post.content, causedBy: post.causedBy, depth: depth),
            at: time, into: &effects)
        if dispatching.awaitedCount > 0 { finish(terms, command, at: time, &effects) }
        endPosting()
    }

    /// Begins dispatching for a poster, who may wait and want rows.
    private mutating func begin(_ terms: PostTerms) {
        dispatching.awaits = terms.wait > 0
        dispatching.reports = terms.reportsObservers
        dispatching.awaitedCount = 0
    }

    private mutating func endPosting() {
        dispatching.awaits = false
        dispatching.reports = false
        if !dispatching.recountedRows.isEmpty { dispatching.recountedRows = [] }
    }

    private mutating func post(
        _ post: borrowing Post, depth: Int, _ terms: PostTerms, byteLimit: Int,
        at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        let scope = terms.details?.scope ?? .everything
        switch post.options?.style {
        case nil, .now:
            var dispatch = Dispatch(post, depth: depth, at: time)
            if let options = post.options, options.style == .now {
                // Rule Q8: similar entries are removed, and this one replaces them (law 1).
                let similar = schedule.queue.takeSimilar(
                    to: post.content, mask: options.coalescing, scope: scope)
                for entry in similar {  // Bound: similar
                    noteDequeued(entry.id, &effects)
                    history.fates.update(entry.id) { $0.state = .coalesced(into: post.id) }
                    dispatching.hasRecounted = true
                    dispatch.absorb(entry)
                }
                dispatch.dequeuedCount = UInt32(similar.count)
            }
            self.dispatch(dispatch, at: time, into: &effects)
        case .asap, .idle:
            if let timing = post.options?.timer {
                return try setTimer(post, timing, depth: depth, terms, at: time, &effects)
            }
            let room = NotificationQueue.Room(
                entryLimit: limits.queueEntryLimit, modeLimit: limits.queueModeLimit,
                byteLimit: byteLimit)
            var receipt = Receipt(id: post.id, sequence: 0)
            receipt.state = try enqueue(
                post, depth: depth, scope: scope, owner: terms.owner, room: room, at: time,
                &effects)
            effects.receipts.append(receipt)
            if terms.reportsObservers { effects.reports.append([]) }
            history.fates.append(receipt, depth: depth, at: time.monotonicNanoseconds)
        }
    }

    /// Lets a post wait in the queue, and returns its state.
    ///
    /// - Parameter isRestored: Whether it may have been posted in an earlier life of the broker.
    mutating func enqueue(
        _ post: borrowing Post, depth: Int, scope: PostScope, owner: Owner,
        room: NotificationQueue.Room, isRestored: Bool = false, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) -> Receipt.State {
        let added = try schedule.queue.add(
            post, depth: depth, scope: scope, owner: owner, room: room, isRestored: isRestored,
            at: time)
        switch added {
        case .queued(let id):
            noteQueued(id, at: time, &effects)
            return .queued
        case .merged(let survivor, let removed):
            for id in removed {  // Bound: similar
                noteDequeued(id, &effects)
                history.fates.update(id) { $0.state = .coalesced(into: survivor) }
                dispatching.hasRecounted = true
            }
            noteQueued(survivor, at: time, &effects)
            return .coalesced(into: survivor)
        }
    }

    /// Lets the poster wait, and notes the answer under its key.
    private mutating func finish(
        _ terms: PostTerms, _ command: CommandID, at time: CommandTime, _ effects: inout Effects
    ) {
        let key = terms.details?.key
        let awaitedCount = dispatching.awaitedCount
        dispatching.awaitedCount = 0
        if awaitedCount > 0 {
            var awaited: [(kept: UInt32, sequence: UInt64)] = []
            swap(&awaited, &dispatching.awaited)
            let (slot, ordinal) = backlog.waiting.add(
                command, receipts: effects.receipts, reports: effects.reports,
                remainingCount: awaitedCount, key: key, at: awaited)
            addDeadline(
                at: time.monotonicNanoseconds.adding(terms.wait),
                .wait(slot: slot, ordinal: ordinal))
            effects.outcome = .waiting
        }
        guard let key else { return }
        // A key whose time is over and that is used again moves to the end, in the store too.
        if history.keys.remembers(key) { forgetKeys([key], &effects) }
        let waitsFor = awaitedCount > 0 ? effects.receipts.first?.id : nil
        let forgotten = history.keys.begin(
            key, waitingFor: waitsFor, receipts: effects.receipts, reports: effects.reports,
            at: time.monotonicNanoseconds, limits: limits)
        forgetKeys(forgotten, &effects)
        tell(
            .key(
                KeyRecord(key: key, receipts: effects.receipts, reports: effects.reports)),
            &effects)
    }

    // MARK: What must hold before anything changes

    private mutating func check(
        _ posts: [Post], _ terms: PostTerms, _ depths: [Int], at time: CommandTime
    ) throws(Refusal) {
        var enqueuedCount = 0
        var enqueuedByteCount = 0
        var isDefaultMode = true
        var hasTimers = false
        for place in posts.indices {  // Bound: batch
            try checkMode(of: posts[place], place: place)
            guard let options = posts[place].options, options.isQueued else { continue }
            if options.timer != nil {
                hasTimers = true
                continue
            }
            enqueuedCount += 1
            enqueuedByteCount += posts[place].content.byteCount
            if options.modes != [Mode.default] { isDefaultMode = false }
        }
        if limits.isDurable, !terms.canStore {
            for post in posts where mustStore(post, terms) { throw .cannotStore }  // Bound: batch
            try checkSequence(postCount: posts.count)
        }
        if hasTimers { try checkTimers(of: posts, terms) }
        guard enqueuedCount > 0 else { return }
        let hasRoom =
            isDefaultMode && enqueuedByteCount <= terms.queueByteRoom
            && schedule.queue.hasRoom(
                forDefaultEntries: enqueuedCount, entryLimit: limits.queueEntryLimit,
                modeLimit: limits.queueModeLimit)
        if !hasRoom { try rehearse(posts, terms, depths, at: time) }
    }

    /// Checks that a post at once is for the current mode (rule Q18).
    ///
    /// It is inlined, as a call would copy the center.
    @inline(__always)
    private func checkMode(of post: borrowing Post, place: Int) throws(Refusal) {
        guard let options = post.options, options.style == .now else { return }
        if !isCurrent(options.modes) {
            throw .modeNotCurrent(current: schedule.modeStack.current, post: place)
        }
    }

    /// Checks that enough numbers are reserved, where nothing can be stored.
    private func checkSequence(postCount: Int) throws(Refusal) {
        if isStored, history.sequence + UInt64(postCount) >= history.reservedSequence {
            throw .cannotStore
        }
    }

    /// Tries all posts of a batch near the limits of the queue, and undoes them: all or nothing.
    private mutating func rehearse(
        _ posts: [Post], _ terms: PostTerms, _ depths: [Int], at time: CommandTime
    ) throws(Refusal) {
        let scope = terms.details?.scope ?? .everything
        let room = NotificationQueue.Room(
            entryLimit: limits.queueEntryLimit, modeLimit: limits.queueModeLimit,
            byteLimit: schedule.queue.byteCount.adding(terms.queueByteRoom))
        schedule.queue.beginBatch()
        defer { schedule.queue.undoBatch() }
        for place in posts.indices {  // Bound: batch
            guard let options = posts[place].options, let style = options.style,
                options.timer == nil
            else { continue }
            if style == .now {
                _ = schedule.queue.takeSimilar(
                    to: posts[place].content, mask: options.coalescing, scope: scope)
            } else {
                _ = try schedule.queue.add(
                    posts[place], depth: depths[place], scope: scope, room: room, at: time)
            }
        }
    }

    /// Whether a post would have to be stored (decision 20).
    ///
    /// It waits, its key is remembered, it is held for a lasting observer, or it acknowledges.
    private func mustStore(_ post: borrowing Post, _ terms: PostTerms) -> Bool {
        if terms.details?.key != nil || post.options?.isQueued == true { return true }
        let style = post.options?.style
        let isImmediate = post.options?.isImmediate ?? false
        // A `now` post may remove entries, and that has to be stored too.
        if style == .now, schedule.queue.count > 0 { return true }
        if archiveBox.value.stores(post.content) { return true }
        var mustStore = false
        let content = post.content
        var truth = ConditionTruth()
        truth.begin()
        registry.index.forEachSlot(of: content) { slot, condition in
            if let condition,
                truth.isTrue(
                    condition, of: registry.index.filters.conditions,
                    in: content.userInfoOrNothing)
                    == false
            {
                return true
            }
            // The route of an action is known only when it is posted.
            if registry.observers.target(at: slot) != nil {
                mustStore = true
                return false
            }
            guard registry.observers[slot].isLasting else { return true }
            let client = registry.observers[slot].client
            let isDropped =
                registry.observers[slot].terms.suspensionBehavior == .drop && !isImmediate
                && !registry.clients[client].suspension.isDisjoint(with: .suspended)
            if !isDropped,
                registry.observers[slot].terms.acknowledges
                    || registry.observers[slot].terms.minInterval > 0
                    || !registry.clients.isLive(at: client)
            {
                mustStore = true
            }
            return !mustStore
        }
        return mustStore
    }

    /// Whether a post for these modes may be posted now (rules Q15 and Q17).
    private func isCurrent(_ modes: [[UInt8]]) -> Bool {
        let current = schedule.modeStack.current
        return modes.contains(current)
            || (modes.contains(Mode.common) && limits.commonModes.contains(current))
    }

    /// The end of a lifetime that starts now.
    static func end(of timeToLive: Int64?, _ time: CommandTime) -> Int64 {
        timeToLive.map { time.monotonicNanoseconds.adding($0) } ?? .max
    }

    // MARK: Keys

    /// Answers a post or an ask of a known key with the first answer, or lets it wait for that.
    mutating func repeats(
        _ key: IdempotencyKey, _ command: CommandID, of client: UInt64? = nil,
        at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) -> Bool {
        switch history.keys.find(key, at: time.monotonicNanoseconds) {
        case .none:
            return false
        case .mismatch:
            throw .keyReused
        case .answered(let record):
            effects.receipts = record.receipts
            effects.reports = record.reports
            effects.outcome = .replayed(form: record.key.form)
            if let ask = record.ask {
                effects.outcome = .asked(ask, replayedForm: record.key.form)
            }
            return true
        case .pending(let id):
            if backlog.waiting.join(id, command, form: key.form) {
                effects.outcome = .waiting
                return true
            }
            let limit = limits.clientAskLimit
            guard try asks.open.join(id, command, of: client, askerLimit: limit) else {
                return false
            }
            effects.outcome = .awaiting(id)
            return true
        }
    }

    /// Reports the forgotten keys as changes.
    mutating func forgetKeys(_ forgotten: [IdempotencyKey], _ effects: inout Effects) {
        for key in forgotten {  // Bound: effects
            tell(.keyForgotten(principal: key.principal, text: key.text), &effects)
        }
    }
}
