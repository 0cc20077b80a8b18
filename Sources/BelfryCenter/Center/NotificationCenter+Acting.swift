// Actions: deliveries of observers with a target go to the holders of addresses (rules K1 to K9).
//
// | event | result for the action |
// | --- | --- |
// | a post matches the observer that has the target | it walks, as an ask does (rules R4 to R6) |
// | a holder may take it now | it is written there, with `acknowledge` as a request |
// | a holder may take it later, and holds | it is held like the responder's own notifications |
// | it reaches a mailbox | it is filed there, and read like a notification |
// | no holder takes it | unhandled: dropped, without a gap |
// | -32601 | it walks on from its last address, without those who were asked |
// | its responder is removed | it is lost, like all that is held for an observer |

extension NotificationCenter {
    /// Lets an action walk; returns its row with the outcome and the route.
    mutating func act(
        on notification: Notification, at slot: UInt32, target: [UInt8], _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow {
        let serial = registry.observers[slot].serial
        let action = HeldAction(
            row: serial, selector: registry.selectors.text(of: registry.observers[slot].selector),
            acknowledges: registry.observers[slot].terms.acknowledges, path: [target])
        // One post may have as many actions as there are observers: their looks have a common
        // limit.
        var walk = Walk(path: action.path, passing: FewList())
        if dispatching.lookCount < limits.actionLookLimit {
            walk = self.walk(from: action.path, for: action.selector.span, passing: FewList())
            dispatching.lookCount += walk.lookCount
        } else {
            walk.saw.insert(.busy)
        }
        let row = carry(
            action, walk, notification, isAwaited: dispatching.awaits, at: time, &effects)
        switch row.outcome {
        case .delivered, .pending:
            _ = registry.observers.noteDelivery(at: slot, time.wallMilliseconds)
        case .unhandled, .dropped: registry.observers[slot].tally.dropped += 1
        case .acknowledged, .answered, .resultOmitted, .refused, .held, .coalesced, .disconnected:
            break
        }
        return row
    }

    /// Hands an action on from a responder; that is a dispatch of its own, as for asks (rule R13).
    mutating func handOn(
        _ action: HeldAction, from entry: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        let before = backlog.held.notification(of: entry)
        let isAwaited = backlog.held[entry].flags.contains(.awaited)
        let isCounted = backlog.held[entry].account == .delivered
        unlink(entry, &effects)
        let walk = walk(
            from: action.path, for: action.selector.span, passing: FewList(action.shown),
            handedOnBy: action.shown.last)
        var notification = before
        if case .nobody = walk.end {
        } else {
            history.sequence += 1
            reserveSequence(&effects)
            notification = before.dispatched(again: history.sequence)
        }
        dispatching.kept = HeldTable.none
        dispatching.awaited = []
        let row = carry(
            action, walk, notification, isAwaited: isAwaited, at: time, &effects)
        recount(before.id, row) { receipt in
            guard isCounted else { return }
            switch row.outcome {
            case .held:
                receipt.pending -= 1
                receipt.delivered -= 1
                receipt.held += 1
            case .dropped, .unhandled:
                receipt.pending -= 1
                receipt.delivered -= 1
                receipt.dropped += 1
            case .delivered: receipt.pending -= 1
            case .pending, .acknowledged, .answered, .resultOmitted, .refused, .coalesced,
                .disconnected:
                break
            }
        }
        // Another responder is awaited, or none any more; the next post waits for its own alone.
        let isAwaitedStill = !dispatching.awaited.isEmpty
        dispatching.awaited = []
        if isAwaited, !isAwaitedStill, let complete = backlog.waiting.resolve(before.id) {
            answer(complete, &effects)
        }
    }

    /// Whether the client was written a higher number than that of an action that waited for room.
    func wasOvertaken(_ entry: UInt32, in step: inout FlushStep) -> Bool {
        if backlog.held[entry].flags.contains(.redelivered) { return false }
        let client = registry.observers[backlog.held[entry].observer].client
        let written =
            step.writtenThrough
            ?? registry.observerSlots(of: client)
            .reduce(0) { max($0, registry.observers[$1].writtenThrough) }
        step.writtenThrough = written
        return written > backlog.held.sequence(of: entry)
    }

    /// Writes an overtaken action with a new number, so that those of a client rise (law 2).
    mutating func writeAgain(
        _ entry: UInt32, _ action: HeldAction, at time: CommandTime, _ effects: inout Effects
    ) {
        let (slot, account) = (backlog.held[entry].observer, backlog.held[entry].account)
        let before = backlog.held.notification(of: entry)
        unlink(entry, &effects)
        history.sequence += 1
        reserveSequence(&effects)
        dispatching.kept = HeldTable.none
        let entry = makeEntry(
            before.dispatched(again: history.sequence), at: slot, account: account, flags: [],
            action: action, time, &effects)
        dispatching.kept = HeldTable.none
        addWaiting(entry, of: registry.observers[slot].client)
        writeHeld(
            entry, backlog.held.notification(of: entry), action, action.acknowledges, at: time,
            &effects)
    }

    /// Gives an action to the responder that its walk has found.
    private mutating func carry(
        _ action: HeldAction, _ walk: Walk, _ notification: Notification, isAwaited: Bool,
        at time: CommandTime, _ effects: inout Effects
    ) -> ReportRow {
        var action = action
        action.path = walk.path
        let outcome: ReportRow.Outcome
        var responder: UInt64?
        switch walk.end {
        case .ask(let slot):
            responder = registry.observers[slot].serial
            let address = action.path[action.path.count - 1]
            asks.addresses.noteTurn(address.span, serial: registry.observers[slot].serial)
            outcome = give(
                action, notification, to: slot, isAwaited: isAwaited, at: time, &effects)
        case .hold(let slot):
            responder = registry.observers[slot].serial
            outcome = hold(action, notification, at: slot, time, &effects)
            if registry.observers[slot].terms.suspensionBehavior == .deliverImmediately {
                // It is written as soon as possible, also to a client that has asked for suspension
                // (rule D10).
                let client = registry.observers[slot].client
                registry.clients[client].immediateSequence = notification.sequence
                noteImmediate(client, at: time, &effects)
            }
        case .nobody:
            outcome = .unhandled(failure(of: walk))
        }
        return ReportRow(
            observer: action.row, outcome: outcome,
            route: ActionRoute(path: action.path, responder: responder))
    }

    /// Gives an action to a responder that may get it now.
    private mutating func give(
        _ action: HeldAction, _ notification: Notification, to slot: UInt32, isAwaited: Bool,
        at time: CommandTime, _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let client = registry.observers[slot].client
        if registry.clients[client].suspension.contains(.mailbox) {
            return file(action, notification, at: slot, time, &effects)
        }
        guard registry.clients[client].suspension.contains(.asked) else {
            return send(action, notification, to: slot, isAwaited, at: time, &effects)
        }
        // It is delivered immediately, but after the held notifications (rule D8).
        registry.clients[client].immediateSequence = notification.sequence
        flush(client, at: time, &effects)
        let outcome =
            registry.isFlushed(client)
            ? send(action, notification, to: slot, isAwaited, at: time, &effects)
            : hold(action, notification, at: slot, time, &effects)
        if outcome == .held { registry.clients[client].immediateSequence = notification.sequence }
        noteImmediate(client, at: time, &effects)
        return outcome
    }

    private mutating func send(
        _ action: HeldAction, _ notification: Notification, to slot: UInt32, _ isAwaited: Bool,
        at time: CommandTime, _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let client = registry.observers[slot].client
        if action.acknowledges {
            if owesTooMuch(slot) || clientOwesTooMuch(client) {
                noteOwing(slot, at: time)
                return hold(action, notification, at: slot, time, &effects)
            }
            var action = action
            action.noteShown(to: registry.observers[slot].serial)
            let entry = makeEntry(
                notification, at: slot, account: .delivered, flags: [], action: action, time,
                &effects)
            addUnacknowledged(entry, of: client)
            if isAwaited { awaitAnswer(to: entry) }
        }
        write(
            action, notification, to: slot, isRedelivered: notification.isRestored, at: time,
            &effects)
        if action.acknowledges, owesTooMuch(slot) { noteOwing(slot, at: time) }
        return action.acknowledges ? .pending : .delivered
    }

    /// Holds an action for a responder until that is live and has room (rule K6).
    private mutating func hold(
        _ action: HeldAction, _ notification: Notification, at slot: UInt32, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let entry = makeEntry(
            notification, at: slot, account: .none, flags: [], action: action, time, &effects)
        addWaiting(entry, of: registry.observers[slot].client)
        keepLimits(of: slot, &effects)
        guard registry.observers[slot].entries.last == entry else { return .dropped }
        backlog.held[entry].account = .held
        return .held
    }

    /// Files an action in the mailbox of a responder, which is never suspended for an action.
    private mutating func file(
        _ action: HeldAction, _ notification: Notification, at slot: UInt32, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let outcome = hold(action, notification, at: slot, time, &effects)
        let isSuspended =
            !registry.clients[registry.observers[slot].client].suspension.isDisjoint(
                with: .suspended)
        guard !isSuspended, outcome == .held else { return outcome }
        // It is counted by its outcome alone: a handed on action is not yet counted as held.
        let entry = registry.observers[slot].entries.last
        backlog.held[entry].account = .none
        let told = tellReader(of: slot, outcome, time, &effects)
        backlog.held[entry].account = told == .held ? .held : .delivered
        return told
    }

    /// Writes an action to the client of its responder.
    mutating func write(
        _ action: HeldAction, _ notification: Notification, to slot: UInt32, isRedelivered: Bool,
        at time: CommandTime, _ effects: inout Effects
    ) {
        // The additional members of the frame are found by the position of the notification.
        let position = UInt32(effects.notifications.count)
        effects.notifications.append(notification)
        effects.note(action.addressed, of: position)
        write(
            position, to: slot, form: action.acknowledges ? .acknowledgedAction : .action,
            isRedelivered: isRedelivered, time, &effects)
    }

    /// Whether a responder is at its limit of open asks.
    func isBusy(_ slot: UInt32) -> Bool {
        guard let responder = registry.observers.responder(at: slot) else { return false }
        return asks.open.shownCount(to: registry.observers[slot].serial) >= responder.concurrency
    }

    /// Whether actions wait for a client that may get them now, but for room at its responders.
    func holdsActions(for client: UInt32) -> Bool {
        !backlog.heldActions.isEmpty && !registry.clients[client].held.list.isEmpty
    }

    /// Explains what would happen to an action that walks now (rule O8).
    func explain(
        actionAt slot: UInt32, target: [UInt8]
    ) -> (row: ReportRow, lookCount: Int) {
        let selector = registry.selectors.text(of: registry.observers[slot].selector)
        let walk = walk(from: [target], for: selector.span, passing: FewList())
        let acknowledges = registry.observers[slot].terms.acknowledges
        var responder: UInt64?
        let outcome: ReportRow.Outcome
        switch walk.end {
        case .ask(let found):
            responder = registry.observers[found].serial
            let suspension = registry.clients[registry.observers[found].client].suspension
            outcome =
                if suspension.contains(.mailbox) {
                    suspension.isDisjoint(with: .suspended) ? .delivered : .held
                } else {
                    acknowledges ? .pending : .delivered
                }
        case .hold(let found):
            responder = registry.observers[found].serial
            outcome = .held
        case .nobody:
            outcome = .unhandled(failure(of: walk))
        }
        let row = ReportRow(
            observer: registry.observers[slot].serial, outcome: outcome,
            route: ActionRoute(path: walk.path, responder: responder))
        return (row, walk.lookCount)
    }
}

extension Notification {
    /// The same notification with a new number.
    fileprivate func dispatched(again sequence: UInt64) -> Notification {
        Notification(
            id: id, sequence: sequence, postedAt: postedAt, causedBy: causedBy, content: content,
            expiresAt: expiresAt, isRestored: isRestored)
    }
}

extension HeldAction {
    /// Notes a responder that was asked to answer it.
    mutating func noteShown(to responder: UInt64) {
        if !shown.contains(responder) { shown.append(responder) }
    }
}

extension ActionRecord {
    /// Makes the record of an action that a responder holds.
    init(_ action: HeldAction, responder: UInt64, sequence: UInt64) {
        self.init(
            sequence: sequence, row: action.row, responder: responder, selector: action.selector,
            acknowledges: action.acknowledges, path: action.path, shown: action.shown)
    }
}
