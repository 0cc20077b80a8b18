import BelfryCenter
import BelfryHistory

// Posts: what is refused is refused before anything has changed.

extension Model {
    struct KeyedAnswer {
        let key: IdempotencyKey
        var receipts: [Receipt]
        var reports: [[ReportRow]]
        /// The first notification of the post that is waited for, if the answer is not complete.
        var waitsFor: NotificationID?
        let forgottenAt: Int64
    }

    struct Waiting {
        var commands: [(id: CommandID, form: UInt8?)]
        var receipts: [Receipt]
        var reports: [[ReportRow]]
        let deadline: Int64
        let key: IdempotencyKey?
    }

    mutating func post(_ posts: [Post], _ command: CommandID) {
        do throws(Refusal) {
            if let key = terms.details?.key, try repeats(key, command) { return }
            let depths = try depths(of: posts)
            try check(posts)
            // All or nothing: on a copy first.
            var copy = self
            copy.queueByteCountBefore = queue.reduce(0) { $0 + $1.byteCount }
            for (place, post) in posts.enumerated() {
                try copy.post(post, depth: depths[place])
            }
            self = copy
        } catch {
            return refuse(error)
        }
        finish(command)
    }

    /// Rule C12: how long the chain of causes is.
    private func depths(of posts: [Post]) throws(Refusal) -> [Int] {
        var depths: [Int] = []
        for (place, post) in posts.enumerated() {
            var depth = 1
            if let cause = post.causedBy {
                let inBatch = posts[..<place].lastIndex { $0.id == cause }.map { depths[$0] }
                let known = fates.last { $0.receipt.id == cause }?.depth
                depth = (inBatch ?? known ?? 1) + 1
            }
            if depth > limits.causedByDepthLimit {
                throw .causedByTooDeep(limit: limits.causedByDepthLimit, post: place)
            }
            depths.append(depth)
        }
        return depths
    }

    private func check(_ posts: [Post]) throws(Refusal) {
        for (place, post) in posts.enumerated() {
            if post.options?.style == .now, let modes = post.options?.modes, !isCurrent(modes) {
                throw .modeNotCurrent(current: currentMode, post: place)
            }
        }
        guard limits.isDurable, !terms.canStore else { return }
        if terms.details?.key != nil { throw .cannotStore }
        for post in posts {
            if post.options?.style == .asap || post.options?.style == .idle { throw .cannotStore }
            if mustStore(post) { throw .cannotStore }
        }
    }

    /// Whether a plain or `now` post would leave something in the store.
    private func mustStore(_ post: Post) -> Bool {
        let content = HistoryContent(post.content)
        if post.options?.style == .now, !queue.isEmpty {
            // It may take entries out, and that would have to be stored.
            return true
        }
        return observers.indices.contains { place in
            let observer = observers[place]
            guard
                content.matches(name: observer.name, object: observer.object, observer.filter),
                !observer.terms.endsWithConnection
            else { return false }
            let client = clients[client(of: place)]
            let isLost =
                observer.terms.suspensionBehavior == .drop && client.isSuspended
                && !(post.options?.isImmediate ?? false)
            return !isLost
                && (observer.terms.acknowledges || observer.terms.minInterval > 0
                    || !client.isLive)
        }
    }

    private mutating func post(_ post: Post, depth: Int) throws(Refusal) {
        let scope = terms.details?.scope ?? .everything
        let content = post.content
        switch post.options?.style {
        case nil, .now:
            var posting = Posting(
                id: post.id, name: content.nameBytes, object: content.objectBytes,
                userInfo: content.userInfoBytes, causedBy: post.causedBy, depth: depth,
                isImmediate: post.options?.isImmediate ?? false,
                expiresAt: end(of: post.options?.timeToLive))
            if let options = post.options, options.style == .now {
                let taken = takeSimilar(
                    name: posting.name, object: posting.object, mask: options.coalescing,
                    scope: scope)
                for entry in taken {
                    setFate(of: entry.id, .coalesced(into: post.id))
                    // The post represents them, with the options of each of them.
                    if entry.isImmediate { posting.isImmediate = true }
                    posting.depth = max(posting.depth, entry.depth)
                    posting.expiresAt = max(posting.expiresAt, entry.expiresAt)
                    out.promises = true
                }
                posting.dequeued = UInt32(taken.count)
            }
            dispatch(posting)
        case .asap, .idle:
            let bytes = queue.reduce(0) { $0 + $1.byteCount } - queueByteCountBefore
            let (survivor, others) = try enqueue(
                post, depth: depth, scope: scope,
                byteRoom: min(terms.queueByteRoom, 1 << 40) - bytes)
            var receipt = Receipt(id: post.id, sequence: 0)
            receipt.state = survivor.map { .coalesced(into: $0) } ?? .queued
            if let survivor { for id in others { setFate(of: id, .coalesced(into: survivor)) } }
            out.promises = true
            out.receipts.append(receipt)
            if terms.reportsObservers { out.reports.append([]) }
            remember(receipt, depth: depth)
        }
    }

    /// The poster waits, and its answer is kept under its key.
    private mutating func finish(_ command: CommandID) {
        let isAwaited = terms.wait > 0 && out.receipts.contains { self.isAwaited($0.id) }
        if isAwaited {
            waiting.append(
                Waiting(
                    commands: [(command, nil)], receipts: out.receipts, reports: out.reports,
                    deadline: now + terms.wait, key: terms.details?.key))
            out.outcome = .plain(.waiting)
        }
        guard let key = terms.details?.key else { return }
        out.promises = true
        keys.removeAll { $0.key.principal == key.principal && $0.key.text == key.text }
        keys.append(
            KeyedAnswer(
                key: key, receipts: out.receipts, reports: out.reports,
                waitsFor: isAwaited ? out.receipts.first?.id : nil,
                forgottenAt: now + lifetime(of: limits.keyLifetime)))
        trimKeys()
    }

    /// Keys that are too many are forgotten, the oldest first.
    mutating func trimKeys() {
        keys.removeFirst(max(0, keys.count - limits.keyLimit))
    }

    /// The same key gives the same answer, and nothing else happens.
    private mutating func repeats(
        _ key: IdempotencyKey, _ command: CommandID
    ) throws(Refusal) -> Bool {
        let known = keys.first {
            $0.key.principal == key.principal && $0.key.text == key.text && $0.forgottenAt > now
        }
        guard let known else { return false }
        if known.key.requestHash != key.requestHash { throw .keyReused }
        guard let first = known.waitsFor else {
            out.receipts = known.receipts
            out.reports = known.reports
            out.outcome = .plain(.replayed(form: known.key.form))
            return true
        }
        let place = waiting.firstIndex { $0.receipts.first?.id == first }
        guard let place else { return false }
        waiting[place].commands.append((command, known.key.form))
        out.outcome = .plain(.waiting)
        return true
    }

    // MARK: Acknowledgements

    func isAwaited(_ id: NotificationID) -> Bool {
        clients.contains { client in client.owed.contains { $0.isAwaited && $0.note.id == id } }
    }

    mutating func acknowledge(
        client id: UInt64, observer serial: UInt64, sequence: UInt64, _ response: Response
    ) {
        guard let observer = place(ofObserver: serial), observers[observer].client == id,
            let place = place(ofClient: id),
            let index = clients[place].owed.firstIndex(where: {
                $0.observer == serial && $0.note.sequence == sequence
            })
        else { return }
        var held = clients[place].owed.remove(at: index)
        observers[observer].missedDeadlines = 0
        noteLessOwed(at: place, observer: serial)
        let isCounted = held.countedAs == .delivered
        let outcome: ReportRow.Outcome =
            switch response {
            case .refusal(let error), .passed(let error): .refused(error: error)
            case .result([], _, _): .acknowledged
            case .result(let result, canKeep: true, _): .answered(result: result)
            case .result, .oversized: .resultOmitted
            }
        endWait(for: &held, outcome: outcome) { receipt in
            guard isCounted else { return }
            receipt.pending -= 1
            if case .refused = outcome { receipt.refused += 1 } else { receipt.acknowledged += 1 }
        }
        if clients[place].isOwing { settle(place) }
    }

    /// An answer has come, or will not come: its account says so, and its poster waits no more.
    mutating func endWait(
        for held: inout Held, outcome: ReportRow.Outcome, _ change: (inout Receipt) -> Void
    ) {
        recount(held, outcome, change)
        guard held.isAwaited else { return }
        held.isAwaited = false
        let id = held.note.id
        let place = waiting.firstIndex { $0.receipts.contains { $0.id == id } }
        guard let place, !waiting[place].receipts.contains(where: { isAwaited($0.id) }) else {
            return
        }
        answer(waiting.remove(at: place))
    }

    mutating func answer(_ waiting: Waiting) {
        // A key that was forgotten meanwhile may be another request's now.
        if let place = keys.firstIndex(where: {
            $0.waitsFor != nil && $0.waitsFor == waiting.receipts.first?.id
        }) {
            keys[place].receipts = waiting.receipts
            keys[place].reports = waiting.reports
            keys[place].waitsFor = nil
            trimKeys()
        }
        for command in waiting.commands {
            out.completions.append(
                Completion(
                    command: command.id, receipts: waiting.receipts, reports: waiting.reports,
                    replayedForm: command.form))
        }
    }

    /// Ends the wait of a poster; observers that are late are noted, and counted.
    mutating func endWaiting(at place: Int) -> Int {
        let late = waiting.remove(at: place)
        var lateCount = 0
        for client in clients.indices {
            for index in clients[client].owed.indices {
                let held = clients[client].owed[index]
                guard held.isAwaited, late.receipts.contains(where: { $0.id == held.note.id })
                else { continue }
                clients[client].owed[index].isAwaited = false
                lateCount += 1
                if let observer = self.place(ofObserver: held.observer) {
                    observers[observer].missedDeadlines += 1
                }
            }
        }
        answer(late)
        return lateCount
    }
}
