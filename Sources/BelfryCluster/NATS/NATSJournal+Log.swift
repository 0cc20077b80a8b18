import BelfryNATS

// How a journal appends to the log, hears what is appended, and gives up what is old.

extension NATSJournal {
    /// Appends an entry.
    public func append(_ entry: [UInt8], as name: EntryName) {
        guard progress == .ready else { return }
        var headers = HeaderBlock()
        let id = "\(settings.node).\(name.life).\(name.number).\(name.attempt)"
        guard (try? headers.append(.msgID, Array(id.utf8))) != nil else { return }
        publish(entry.span, to: names.logSubject, .append(name), headers: headers)
    }

    func takeAcknowledgement(_ message: Message, of name: EntryName) {
        guard progress == .ready,
            let answer = try? PublishAcknowledgement.read(message.payload)
        else { return }
        switch answer {
        case .success(let acknowledgement):
            guard Array(acknowledgement.stream.utf8) == names.log.bytes else { return }
            note(acknowledgement.sequence)
            events.append(.appended(name, index: acknowledgement.sequence))
        case .failure(let error):
            // JetStream uses the same number for all other faults of storing.
            guard error.errorCode == APIError.maximumBytesExceeded,
                error.description == "maximum bytes exceeded"
            else { return }
            events.append(.refused(name, .isFull))
        }
    }

    /// Takes a message of the subject on which the engine reports stored messages.
    ///
    /// Any client that may publish to it may claim anything; but a false claim mostly shows.
    func takePush(_ message: Message) {
        guard progress == .ready, !message.headerBytes.isEmpty,
            let headers = try? message.headers(), headers.status == nil,
            let place = try? StoredPlace(headers), place.sequence > 0,
            headers.has(.stream, names.log.bytes),
            headers.has(.subject, names.logSubject.bytes)
        else { return }
        note(place.sequence)
        events.append(.entry(index: place.sequence, message.payload))
    }

    /// Sends all brokers a sign of life of this one.
    public func tell(_ beat: Beat) {
        guard progress == .ready else { return }
        publish(beat.code.span, to: names.beatSubject, nil)
    }

    // MARK: Looking

    /// Asks for the state of the log, for ``leader``, ``logByteCount`` and ``snapshotIndex``.
    public func look() {
        guard progress == .ready else { return }
        ask(.info(names.log), .state)
        ask(.directGetLast(names.snapshots, names.wholeSubject), .newest)
    }

    func takeNewest(_ message: Message) {
        guard case .message? = try? DirectAnswer(message),
            let last = SnapshotManifest(code: message.payload, byteLimit: snapshotByteLimit)
        else { return }
        snapshotIndex = last.index
    }

    // MARK: Trimming

    /// Gives up all entries up to an index, but never the last one of the log.
    ///
    /// The bounds are asked for first: past the end STREAM.PURGE would leave out numbers.
    public func trim(through index: UInt64) {
        guard progress == .ready else { return }
        ask(.info(names.log), .bounds(trim: index))
    }

    func takeBounds(_ message: Message, trimming index: UInt64) {
        guard progress == .ready, let state = logState(message) else { return }
        // A log that was emptied would not say any more which entry was the last one.
        let first = index < state.lastSequence ? index + 1 : state.lastSequence
        guard first > state.firstSequence else { return }
        ask(.purge(names.log, before: first), .purge)
    }
}

extension HeaderBlock {
    /// Whether the last field of this name has this value.
    fileprivate func has(_ field: HeaderField, _ value: [UInt8]) -> Bool {
        guard let found = self.value(of: field), found.count == value.count else { return false }
        return value.indices.allSatisfy { found[$0] == value[$0] }
    }
}
