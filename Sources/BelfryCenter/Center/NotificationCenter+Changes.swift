import BelfryJSON

// A change of a value on its way to whoever looks at a place that it has changed (rules V3 to V5, V7 and V12).

/// A change that was made, and is not told yet.
struct ValueChange {
    let id: NotificationID
    let edit: DocumentEdit
    /// The slot of the value.
    let value: UInt32
    /// The canonical bytes of its document before; nil where there was none.
    let byteCountBefore: Int?
    /// The slot of the client that made it over its own connection.
    var client: UInt32?
}

extension NotificationCenter {
    /// One form of a change: all observers of a place who ask for the same get the same bytes.
    private struct Form {
        let notification: Notification
        /// Which of the notifications of the effects it is.
        let position: UInt32
        /// Its slot in what is held, once somebody holds it.
        var kept = HeldTable.none
    }

    /// An observer that looks at a place that has changed.
    private struct Match {
        let serial: UInt64
        let slot: UInt32
        let form: Int
    }

    /// Gives a change its number, and lets all who look at what it has changed have it.
    mutating func tell(
        _ change: ValueChange, at time: CommandTime, _ effects: inout Effects
    ) -> Receipt {
        sequence += 1
        reserveSequence(&effects)
        let slot = change.value
        values.noteDocument(at: slot, byteCountBefore: change.byteCountBefore)
        values[slot].changedSequence = sequence
        values[slot].changedAt = time.wallMilliseconds
        if values[slot].document == nil { values.removedSequence = sequence }
        values.changeCount += 1
        effects.noteValue(values.object(at: slot))
        noteValue(slot, at: time, &effects)
        var receipt = Receipt(id: change.id, sequence: sequence)
        guard values[slot].trie.observerCount > 0 else { return receipt }
        let nodes = values[slot].trie.changedNodes(by: change.edit)
        if nodes.isEmpty { return receipt }
        var forms: [Form] = []
        let matches = matches(of: change, at: nodes, &forms, time, &effects)
        dispatching.isActive = true
        dispatching.id = change.id
        dispatching.isImmediate = false
        dispatching.form = .change
        dispatching.kept = HeldTable.none
        dispatching.keptMark = HeldTable.none
        dispatching.toldMarks = []
        for match in matches {
            if isOwn(change, at: match.slot) {
                noteOwn(at: match.slot, time, &effects)
                continue
            }
            receipt.matched += 1
            if dispatching.toldMarks.contains(match.slot) {
                receipt.delivered += 1
                continue
            }
            if observers.deliverChange(
                forms[match.form].position, sequence, to: match.slot, of: clients,
                at: time.wallMilliseconds, into: &effects.deliveries)
            {
                receipt.delivered += 1
                continue
            }
            dispatching.position = forms[match.form].position
            dispatching.kept =
                keptAgain(forms[match.form].kept, forms[match.form].notification)
                ?? HeldTable.none
            let outcome = place(forms[match.form].notification, at: match.slot, time, &effects)
            forms[match.form].kept = dispatching.kept
            count(outcome, &receipt)
        }
        dispatching.isActive = false
        dispatching.toldMarks = []
        dispatching.form = .shared
        return receipt
    }

    /// Who looks at the places that a change has changed, in registration order, and the forms that they get.
    private mutating func matches(
        of change: ValueChange, at nodes: [UInt32], _ forms: inout [Form], _ time: CommandTime,
        _ effects: inout Effects
    ) -> [Match] {
        var matches: [Match] = []
        for node in nodes {
            values[change.value].trie[node].changedSequence = sequence
            let path = values[change.value].trie[node].path
            let seen = change.edit.change(at: path)
            for withOld in [false, true] {
                let list =
                    withOld
                    ? values[change.value].trie[node].oldObservers
                    : values[change.value].trie[node].observers
                guard !list.isEmpty, let text = seen.text(withOld: withOld) else { continue }
                let notification = Notification(
                    id: change.id, sequence: sequence, postedAt: time.wallMilliseconds,
                    causedBy: nil, content: content(at: change.value, text))
                let position = effects.append(notification, keyPath: path.text)
                matches.reserveCapacity(matches.count + list.count)
                for entry in list.entries where !entry.isDead {
                    matches.append(
                        Match(serial: entry.serial, slot: entry.slot, form: forms.count))
                }
                forms.append(Form(notification: notification, position: position))
            }
        }
        if forms.count > 1 { matches.sort { $0.serial < $1.serial } }
        return matches
    }

    /// The content of a notification about a value: the change stands in the place of the userInfo.
    func content(at slot: UInt32, _ text: [UInt8]?) -> Notification.Content {
        Notification.Content(
            name: Self.valueName, object: values.object(at: slot), userInfo: text)
    }

    /// The name in the frames of values, which is no channel (rule V13).
    static let valueName = [UInt8]("belfry.value".utf8)

    /// Whether an observer wants no frame of a change, as its own client has made it.
    private func isOwn(_ change: ValueChange, at slot: UInt32) -> Bool {
        guard let client = change.client, observers[slot].client == client else { return false }
        return values.observers[slot].map { !$0.terms.sendsOwn } ?? false
    }

    /// A client has changed by itself what an observer of it looks at: what is held for that, and comes from before,
    /// would come behind its own, so the present value takes its place.
    private mutating func noteOwn(
        at slot: UInt32, _ time: CommandTime, _ effects: inout Effects
    ) {
        guard observers[slot].entries.count > 0, values.observers[slot]?.isMarked == false else {
            return
        }
        markHeld(of: slot, .coalesced, &effects)
    }
}

extension ObserverTable {
    /// Writes and counts a delivery of a change to an observer that may have it at once; tells whether it may.
    @inline(__always)
    mutating func deliverChange(
        _ notification: UInt32, _ sequence: UInt64, to slot: UInt32, of clients: ClientTable,
        at time: Int64, into deliveries: inout [Delivery]
    ) -> Bool {
        guard let route = clients.liveRoute(at: self[slot].client),
            self[slot].terms.minInterval == 0
        else { return false }
        self[slot].noteDelivery(of: sequence, at: time)
        deliveries.append(
            Delivery(
                connection: route.connection, observer: self[slot].serial,
                notification: notification, selector: self[slot].selector,
                transport: route.transport, form: .change, isRedelivered: false))
        return true
    }
}
