import BelfryJSON

// Writes to values: the present one is compared, changed in place, and reported to its observers
// (rules V1 to V3, V14).

extension NotificationCenter {
    /// Sets a value at a place; values on its path that are no objects become objects.
    mutating func setValue(
        _ write: ValueWrite, _ value: Document, _ lifetime: ValueLifetime, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        let found = try look(at: write, growing: true)
        let ended = values.parts(below: write.path, of: found.slot)
        try checkLifetime(lifetime, write, found, ended)
        let edit = try edit(write, found) { (document, limits) throws(DocumentError) in
            try document.set(value, at: write.path, limits: limits)
        }
        let hadParts = !ended.isEmpty
        // A renewed entry keeps its client throughout.
        if lifetime.lease != nil, let client = write.client.flatMap({ clients.slot(of: $0) }) {
            retain(client, at: time, &effects)
        }
        for part in ended { removePart(part, at: time, &effects) }  // Bound: parts
        if lifetime.isLimited {
            addPart(lifetime, write, values.makeSlot(of: write.object), at: time)
        }
        finish(
            edit, write, found, isNoted: hadParts || lifetime.isLimited, at: time, &effects)
    }

    /// Applies a merge patch to the value at a place: all of it is one change (rule V3).
    mutating func mergeValue(
        _ write: ValueWrite, _ patch: Document, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        let found = try look(at: write, growing: true)
        let ended =
            found.slot.map { values[$0].trie.parts(writtenBy: patch, at: write.path) } ?? []
        let edit = try edit(write, found) { (document, limits) throws(DocumentError) in
            try document.merge(patch, at: write.path, limits: limits)
        }
        for part in ended { removePart(part, at: time, &effects) }  // Bound: parts
        finish(edit, write, found, isNoted: !ended.isEmpty, at: time, &effects)
    }

    /// Removes the value at a place.
    mutating func removeValue(
        _ write: ValueWrite, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        // A missing value is not found, whatever the condition says (RFC 9110 §13.2.1).
        guard let slot = values.slot(of: write.object.span),
            values[slot].document?.value(at: write.path) != nil
        else { throw .unknownValue }
        let found = try look(at: write, growing: false)
        let edit = values.remove(write.path, of: slot)
        for part in values.parts(below: write.path, of: slot) {  // Bound: parts
            removePart(part, at: time, &effects)
        }
        finish(edit, write, found, isNoted: true, at: time, &effects)
    }

    /// The state of a value before a write.
    private struct Found {
        /// The slot of the value, if there is a value or an observer of it.
        let slot: UInt32?
        /// The canonical bytes of its document, if there is one.
        let byteCount: Int?
        /// Whether the place has a value.
        let isThere: Bool
    }

    /// Finds the place of a write, and checks its condition before anything changes.
    private func look(at write: ValueWrite, growing: Bool) throws(Refusal) -> Found {
        guard write.canStore || !limits.isDurable || !growing else { throw .cannotStore }
        let slot = values.slot(of: write.object.span)
        let document = slot.flatMap { values[$0].document }
        let present = document?.value(at: write.path)
        if !write.condition.isEmpty {
            let tag = present.map { ValueTag(of: $0, key: values.tagKey) }
            guard write.condition.isMet(by: tag) else { throw .preconditionFailed(current: tag) }
        }
        if document == nil, growing, values.count >= limits.valueLimit {
            throw .valuesFull(limit: limits.valueLimit)
        }
        return Found(slot: slot, byteCount: document?.byteCount, isThere: present != nil)
    }

    /// Changes the document of a value in place; a refused change leaves it as it was.
    private mutating func edit(
        _ write: ValueWrite, _ found: Found,
        _ change: (inout Document, DocumentLimits) throws(DocumentError) -> DocumentEdit
    ) throws(Refusal) -> DocumentEdit {
        usesValues = true
        let bounds = DocumentLimits(
            byteLimit: limits.documentByteLimit, depthLimit: limits.documentDepthLimit)
        var document: Document?
        // The document is moved out of the table, so that it is changed in place.
        if let slot = found.slot { swap(&document, &values[slot].document) }
        let isNew = document == nil
        var changed = document.take() ?? .empty
        var result: DocumentEdit?
        var refusal: Refusal?
        do throws(DocumentError) {
            let edit = try change(&changed, bounds)
            let growth =
                changed.byteCount - (found.byteCount ?? 0)
                + (isNew ? write.object.count : 0)
            if growth > max(0, write.byteRoom), growth > 0 {
                changed.undo(edit)
                refusal = .valueBytesFull
            } else {
                result = isNew ? DocumentEdit(old: nil, new: changed) : edit
            }
        } catch {
            refusal = Refusal(error, limits)
        }
        let slot = found.slot ?? (result == nil ? nil : values.makeSlot(of: write.object))
        if let slot, result != nil || !isNew { values[slot].document = changed }
        if let refusal { throw refusal }
        guard let result else { preconditionFailure("what is not refused has an edit") }
        return result
    }

    /// Reports the change of a write, stores it, and makes the answer.
    private mutating func finish(
        _ edit: DocumentEdit, _ write: ValueWrite, _ found: Found, isNoted: Bool,
        at time: CommandTime, _ effects: inout Effects
    ) {
        let slot = found.slot ?? values.makeSlot(of: write.object)
        let present = values[slot].document?.value(at: write.path)
        let tag = present.map { ValueTag(of: $0, key: values.tagKey) }
        let isChanged = edit.isChange
        var receipt = Receipt(id: write.id, sequence: sequence)
        if isChanged {
            let change = ValueChange(
                id: write.id, edit: edit, value: slot, byteCountBefore: found.byteCount,
                client: write.client.flatMap { clients.slot(of: $0) })
            receipt = tell(change, at: time, &effects)
            count(valueAt: slot, for: write.owner)
        } else if isNoted {
            recount(valueAt: slot)
            noteValue(slot, at: time, &effects)
        }
        effects.outcome = .written(
            WrittenValue(
                receipt: receipt, isChanged: isChanged, isCreated: !found.isThere && present != nil,
                tag: tag))
        values.releaseIfUnused(slot)
    }

    /// Stores the whole of a value, once for a turn.
    mutating func noteValue(_ slot: UInt32, at time: CommandTime, _ effects: inout Effects) {
        guard limits.isDurable else { return }
        let object = values.object(at: slot)
        guard let document = values[slot].document else {
            return tell(.valueRemoved(object: object), &effects)
        }
        tell(
            .value(
                ValueRecord(
                    object: object, document: document,
                    changedSequence: values[slot].changedSequence,
                    changedAt: values[slot].changedAt, parts: partRecords(of: slot))), &effects)
    }

    /// Counts a value for the owner of its last change, and no longer for the former one.
    private mutating func count(valueAt slot: UInt32, for owner: Owner) {
        let (before, previous) = (values[slot].owned, values[slot].owner)
        if owner == .none, previous == .none { return }
        owned.add(-before.byteCount, cost: -before.cost, of: .values, for: previous)
        values[slot].owner = values[slot].document == nil ? .none : owner
        let now =
            values[slot].owner == .none ? (byteCount: 0, cost: 0) : values.owned(at: slot)
        values[slot].owned = now
        owned.add(now.byteCount, cost: now.cost, of: .values, for: owner)
    }

    /// Counts a value for its owner after the broker changed it, or an end of its places.
    mutating func recount(valueAt slot: UInt32) {
        count(valueAt: slot, for: values[slot].owner)
    }

    /// Checks the room for a part, before anything changes.
    private func checkLifetime(
        _ lifetime: ValueLifetime, _ write: ValueWrite, _ found: Found, _ ended: [UInt32]
    ) throws(Refusal) {
        guard lifetime.isLimited else { return }
        // A part takes memory, also where its value exists already.
        guard !ended.isEmpty || write.byteRoom > 0 else { throw .valueBytesFull }
        let count = found.slot.map { values[$0].trie.partCount } ?? 0
        guard count - ended.count < limits.valuePartLimit else {
            throw .tooManyParts(limit: limits.valuePartLimit)
        }
        guard lifetime.lease != nil else { return }
        guard let client = write.client, clients.slot(of: client) != nil else {
            throw .unknownClient
        }
        let own = ended.count { values.parts[$0]?.lease?.client == client }
        guard values.parts.count(ofClient: client) - own < limits.clientPartLimit else {
            throw .tooManyEntries(limit: limits.clientPartLimit)
        }
    }
}

extension Refusal {
    /// The reason why a document refuses a write.
    fileprivate init(_ error: DocumentError, _ limits: CenterLimits) {
        switch error {
        case .tooManyBytes: self = .valueTooLarge(limit: limits.documentByteLimit)
        case .tooDeep: self = .valueTooDeep(limit: limits.documentDepthLimit)
        case .text: preconditionFailure("a text was read before")
        }
    }
}
