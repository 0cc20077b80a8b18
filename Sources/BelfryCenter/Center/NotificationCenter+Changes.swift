import BelfryJSON

// A change of a value on its way to the observers of the places that it has changed (rules V3 to
// V5, V7 and V12).

/// A change that was made, and is not reported yet.
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
    /// One form of a change: all observers of a place with the same terms get the same bytes.
    private struct Form {
        let notification: Notification
        /// Its position among the notifications of the effects.
        let position: UInt32
        /// Its slot among the held notifications, once it has a holder.
        var kept = HeldTable.none
    }

    /// Gives a change its number, and delivers it to all observers of the changed places.
    mutating func tell(
        _ change: ValueChange, at time: CommandTime, _ effects: inout Effects
    ) -> Receipt {
        history.sequence += 1
        reserveSequence(&effects)
        let slot = change.value
        values.noteDocument(at: slot, byteCountBefore: change.byteCountBefore)
        values.noteChange(change.edit, of: slot, at: history.sequence)
        values[slot].changedAt = time.wallMilliseconds
        effects.noteValue(values.object(at: slot))
        noteValue(slot, at: time, &effects)
        var receipt = Receipt(id: change.id, sequence: history.sequence)
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
        noteOwn(change, among: matches, time, &effects)
        var place = 0
        while place < matches.count {  // Bound: observers
            let match = matches[place]
            let isTold = dispatching.toldMarks.contains(match.slot)
            if !isTold {
                // Once an observer was written its mark meanwhile, each is handled by itself.
                let end = dispatching.toldMarks.isEmpty ? matches.count : place + 1
                let count = deliver(change, forms, to: matches[place..<end], at: time, &effects)
                receipt.matched += UInt32(count)
                receipt.delivered += UInt32(count)
                place += count
                if count > 0 { continue }
            }
            place += 1
            if isOwn(change, at: match.slot) { continue }
            receipt.matched += 1
            if isTold {
                receipt.delivered += 1
                continue
            }
            let form = Int(match.form)
            dispatching.position = forms[form].position
            dispatching.kept =
                backlog.held.again(forms[form].kept, forms[form].notification) ?? HeldTable.none
            let outcome = self.place(forms[form].notification, at: match.slot, time, &effects)
            forms[form].kept = dispatching.kept
            receipt.count(outcome)
        }
        dispatching.isActive = false
        dispatching.toldMarks = []
        dispatching.form = .shared
        return receipt
    }

    /// Writes a change to observers up to the first that needs more checks; returns their number.
    private mutating func deliver(
        _ change: ValueChange, _ forms: [Form], to matches: ArraySlice<ChangeMatch>,
        at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        registry.observers.deliver(
            changes: forms[0].position, history.sequence, to: matches, exceptOf: change.client,
            of: registry.clients, at: time.wallMilliseconds, into: &effects.deliveries)
    }

    /// Finds the observers of changed places, in registration order, and the forms that they get.
    private mutating func matches(
        of change: ValueChange, at nodes: [UInt32], _ forms: inout [Form], _ time: CommandTime,
        _ effects: inout Effects
    ) -> [ChangeMatch] {
        var matches: [ChangeMatch] = []
        for node in nodes {  // Bound: places
            values[change.value].trie.noteChange(of: node, at: history.sequence)
            let path = values[change.value].trie.path(of: node)
            let seen = change.edit.change(at: path)
            for withOld in [false, true] {
                let list =
                    withOld
                    ? values[change.value].trie[node].oldObservers
                    : values[change.value].trie[node].observers
                guard !list.isEmpty, let text = seen.text(withOld: withOld) else { continue }
                let notification = Notification(
                    id: change.id, sequence: history.sequence, postedAt: time.wallMilliseconds,
                    causedBy: nil, content: content(at: change.value, text))
                let position = effects.append(notification, keyPath: path.text)
                list.appendMatches(of: UInt32(forms.count), to: &matches)
                forms.append(Form(notification: notification, position: position))
            }
        }
        if forms.count > 1 { matches.sort { $0.serial < $1.serial } }
        return matches
    }

    /// The content of a notification about a value: the change is in the place of the userInfo.
    func content(at slot: UInt32, _ text: [UInt8]?) -> Notification.Content {
        Notification.Content(
            name: Self.valueName, object: values.object(at: slot), userInfo: text)
    }

    /// The name in the frames of values, which is no channel (rule V13).
    static let valueName = [UInt8]("belfry.value".utf8)

    /// Whether an observer wants no frame of a change that its own client has made.
    private func isOwn(_ change: ValueChange, at slot: UInt32) -> Bool {
        guard let client = change.client, registry.observers[slot].client == client else {
            return false
        }
        return values.observers[slot].map { !$0.terms.sendsOwn } ?? false
    }

    /// Marks the observers of a client that has changed their value by itself.
    ///
    /// Their held changes are older, and would come behind the client's own: the present value
    /// replaces them, before a frame is released.
    private mutating func noteOwn(
        _ change: ValueChange, among matches: [ChangeMatch], _ time: CommandTime,
        _ effects: inout Effects
    ) {
        guard let client = change.client, !registry.clients[client].held.list.isEmpty else {
            return
        }
        for match in matches where isOwn(change, at: match.slot) {  // Bound: observers
            let slot = match.slot
            guard registry.observers[slot].entries.count > 0,
                values.observers[slot]?.isMarked == false
            else { continue }
            markHeld(of: slot, .coalesced, &effects)
        }
    }
}

extension PostingList {
    /// Appends the observers that get a form of a change, in registration order.
    fileprivate func appendMatches(of form: UInt32, to matches: inout [ChangeMatch]) {
        matches.append(addingCapacity: count) { output in
            for index in entries.indices where !entries[index].isDead {  // Bound: observers
                let entry = entries[index]
                output.append(ChangeMatch(serial: entry.serial, slot: entry.slot, form: form))
            }
        }
    }
}
