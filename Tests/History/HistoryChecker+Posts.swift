// Posts, their numbers, and their accounts (laws 2 to 4).

extension HistoryChecker {
    func hand(_ post: HistoryPost) throws(HistoryFault) {
        guard posts[post.id] == nil else {
            throw HistoryFault("law 4: \(post.id.shown) came twice")
        }
        posts[post.id] = post
    }

    /// A notification got its number; from now on each observer that it matches has it due.
    func dispatch(_ notification: HistoryNotification) throws(HistoryFault) {
        if let known = note(of: notification.sequence) {
            guard known.id == notification.id, known.content == notification.content else {
                throw HistoryFault("law 4: the number \(notification.sequence) is used twice")
            }
            return
        }
        guard notification.sequence > lastSequence else {
            throw HistoryFault("law 2: \(notification.sequence) came after \(lastSequence)")
        }
        lastSequence = notification.sequence
        let note = DispatchedNote(notification, command: command, life: life)
        try findOrigin(of: note)
        notes.append(note)
        lastOfID[note.id] = note
        openNotes.append(note)
        for name in [note.content.name, nil] {
            for account in byName[name] ?? [] where account.observer.since < note.sequence {
                guard account.matches(note.content) else { continue }
                makeDue(note, for: account)
            }
        }
    }

    private func makeDue(_ note: DispatchedNote, for account: ObserverAccount) {
        var due = ObserverAccount.Due(note: note)
        let client = clients[account.observer.client]
        due.wasSuspended = client?.isSurelySuspended ?? false
        if account.isMailbox {
            due.wasSuspended = false
            note.mailboxCount += 1
        }
        if due.wasSuspended, note.isImmediate == false {
            account.lastSuspended[note.content.kind] = note
        }
        due.isOptional = account.isLeaving
        account.dues.append(due)
        if account.isLeaving { note.mayMatch += 1 } else { note.mustMatch += 1 }
    }

    /// Finds the options of the post, and of the posts that it represents.
    private func findOrigin(of note: DispatchedNote) throws(HistoryFault) {
        let earlier = lastOfID[note.id]
        if let entry = try queue.leave(note, command: command, at: time) {
            note.isImmediate = entry.isCertain ? entry.isImmediate : nil
            // Clocks have begun anew meanwhile: it may be too old at any time.
            let mayExpire = entry.isCertain ? entry.expiresAt != nil : entry.mayExpire
            note.expiresAt = entry.isRestored ? (mayExpire ? 0 : nil) : entry.expiresAt
            note.isRestored = entry.isRestored
            return
        }
        if earlier != nil { throw HistoryFault("law 4: \(note.id.shown) was dispatched twice") }
        guard let post = posts[note.id] else {
            guard note.content.name.starts(with: "belfry.".utf8) else {
                throw HistoryFault("\(note.sequence) was posted by nobody")
            }
            return
        }
        guard post.content == note.content else {
            throw HistoryFault("\(note.sequence) was not posted with this content")
        }
        note.isUnanswered = true
        note.isImmediate = post.isImmediate
        note.expiresAt = post.timeToLive.map { time + $0 }
        let taken = post.style == .now ? queue.similar(to: post) : []
        let isPlain = post.style != .now || taken.isEmpty && queue.isCertain
        guard isPlain || post.isUnscoped && !post.isInBatch && queue.isCertain else {
            note.isImmediate = nil
            note.expiresAt = note.expiresAt.map { _ in 0 }
            return
        }
        if !post.isInBatch, queue.isCertain { note.takenCount = taken.count }
        for entry in taken {
            if entry.isImmediate { note.isImmediate = true }
            if let end = note.expiresAt { note.expiresAt = entry.expiresAt.map { max(end, $0) } }
        }
    }

    // MARK: Accounts

    func answer(_ receipt: HistoryReceipt, isFinal: Bool) throws(HistoryFault) {
        try checkSum(receipt)
        guard let post = posts[receipt.id] else {
            throw HistoryFault("\(receipt.id.shown) was answered, and nobody posted it")
        }
        switch receipt.state {
        case .queued, .coalesced:
            // A batch is answered again when its deliveries are acknowledged.
            if let before = queueAnswers.updateValue(receipt.state, forKey: receipt.id) {
                guard receipt.state == before else {
                    throw HistoryFault("\(receipt.id.shown) is answered in two ways")
                }
                return
            }
            try queue.enter(post, receipt.state, command: command, at: time)
        case .posted:
            guard let note = lastOfID[receipt.id], note.sequence == receipt.sequence else {
                throw HistoryFault("\(receipt.id.shown) is answered with a number it does not have")
            }
            try check(receipt, of: note)
            note.isUnanswered = !isFinal
            if isFinal { note.isOpen = false }
        case .dequeued, .expired:
            throw HistoryFault("\(receipt.id.shown) is answered with \(receipt.state)")
        }
    }

    func look(_ id: [UInt8], _ receipt: HistoryReceipt?) throws(HistoryFault) {
        if let receipt { try checkSum(receipt) }
        try queue.look(id, receipt?.state, command: command, at: time)
        guard let receipt, receipt.state == .posted, let note = lastOfID[id],
            note.sequence == receipt.sequence
        else { return }
        try check(receipt, of: note)
    }

    /// Law 3: the account adds up.
    private func checkSum(_ receipt: HistoryReceipt) throws(HistoryFault) {
        let sum = receipt.delivered + receipt.held + receipt.coalesced + receipt.dropped
        guard receipt.matched == sum,
            receipt.acknowledged + receipt.refused + receipt.pending <= receipt.delivered
        else { throw HistoryFault("law 3: the account does not add up: \(receipt)") }
    }

    /// Law 3: the account says what was seen.
    private func check(_ receipt: HistoryReceipt, of note: DispatchedNote) throws(HistoryFault) {
        let matched = note.mustMatch...(note.mustMatch + note.mayMatch)
        guard matched.contains(receipt.matched) else {
            throw HistoryFault(
                "law 3: \(note.sequence) matched \(matched), and its account says \(receipt.matched)"
            )
        }
        if let before = note.receipt {
            guard receipt.matched == before.matched, receipt.delivered >= before.delivered,
                receipt.dropped >= before.dropped, receipt.acknowledged >= before.acknowledged,
                receipt.refused >= before.refused
            else {
                throw HistoryFault(
                    "law 3: the account of \(note.sequence) went back: \(before) to \(receipt)")
            }
        }
        note.receipt = receipt
        if let taken = note.takenCount, receipt.dequeued != taken {
            throw HistoryFault(
                "rule Q8: \(note.id.shown) took \(taken) out of the queue: \(receipt)")
        }
        guard isSynchronous, !note.isClouded, note.life == life, !note.isRestored else { return }
        let written = note.writtenCount
        let flushed = min(flushedCount(of: note), receipt.held + receipt.coalesced)
        let delivered = written - note.mailboxCount - flushed...written + note.mailboxCount
        guard delivered.contains(receipt.delivered) else {
            throw HistoryFault(
                "law 3: \(note.sequence) was written to \(written) observers: \(receipt)")
        }
        guard receipt.acknowledged == note.acknowledgedCount,
            receipt.refused == note.refusedCount
        else {
            throw HistoryFault(
                """
                law 3: \(note.acknowledgedCount) acknowledged \(note.sequence) and \
                \(note.refusedCount) refused it: \(receipt)
                """)
        }
    }

    /// How many observers may have been written a notification by this command behind its account.
    ///
    /// The center's own reports follow a post, and may flush held notifications (rule D8);
    /// an acknowledgement ends a wait, and then makes room for what is held (Protocol, section 7).
    private func flushedCount(of note: DispatchedNote) -> Int {
        let isTold = notes.last?.content.name.starts(with: "belfry.".utf8) ?? false
        if note.command == command, !isTold { return 0 }
        return note.lastWrites.command == command ? note.lastWrites.count : 0
    }
}

extension [UInt8] {
    var shown: String { String(decoding: self, as: UTF8.self) }
}
