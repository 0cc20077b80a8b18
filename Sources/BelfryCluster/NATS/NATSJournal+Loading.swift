import BelfryNATS

// How a journal loads the last whole snapshot: what makes it whole, its pieces, and whether they
// are what was kept.

extension NATSJournal {
    /// Asks for the last snapshot; one on its way is awaited for as long as pieces of it come.
    public func load() {
        guard progress == .ready else { return }
        if loading?.hasMoved == true {
            loading?.hasMoved = false
            return
        }
        beginLoad(isSecond: false)
    }

    private func beginLoad(isSecond: Bool) {
        loadNumber += 1
        loading = SnapshotLoad(number: loadNumber, isSecond: isSecond)
        ask(.directGetLast(names.snapshots, names.wholeSubject), .last(load: loadNumber))
    }

    func takeLast(_ message: Message, of number: UInt64) {
        guard let load = loading, load.number == number, load.manifest == nil,
            let answer = try? DirectAnswer(message)
        else { return }
        switch answer {
        case .message(let place):
            loading?.sequence = place.sequence
            loading?.hasMoved = true
            guard
                let manifest = SnapshotManifest(
                    code: message.payload, byteLimit: settings.snapshotByteLimit)
            else { return giveUpBroken() }
            loading?.manifest = manifest
            askParts()
        case .notFound:
            loading = nil
            events.append(.snapshot(nil))
        case .endOfBatch, .badRequest, .noResponders, .other: loading = nil
        }
    }

    private func askParts() {
        guard let load = loading, let manifest = load.manifest else { return }
        if load.pieceCount == manifest.sequences.count { return finishLoad(load, manifest) }
        let end = min(load.pieceCount + NATSSettings.pieceWindow, manifest.sequences.count)
        for place in load.askedCount..<max(load.askedCount, end) {
            ask(
                .directGetMessage(names.snapshots, manifest.sequences[place]),
                .part(load: load.number, place: UInt64(place)))
            loading?.askedCount += 1
        }
    }

    func takePart(_ message: Message, of number: UInt64, at place: UInt64) {
        // No copy of the pieces so far is held, or it would be made anew with each piece.
        guard loading?.number == number, loading?.isAwaited(place) == true,
            let manifest = loading?.manifest, let byteCount = loading?.state.count,
            let answer = try? DirectAnswer(message)
        else { return }
        switch answer {
        case .message(let stored):
            guard stored.sequence == manifest.sequences[Int(place)],
                byteCount + message.payload.count <= manifest.byteCount
            else { return giveUpBroken() }
            loading?.take(message.payload, at: Int(place))
            askParts()
        case .notFound: giveUpBroken()
        case .endOfBatch, .badRequest, .noResponders, .other: loading = nil
        }
    }

    private func finishLoad(_ load: SnapshotLoad, _ manifest: SnapshotManifest) {
        guard load.state.count == manifest.byteCount else { return giveUpBroken() }
        let snapshot = JournalSnapshot(index: manifest.index, state: load.state)
        guard snapshot.digest == manifest.digest else { return giveUpBroken() }
        loading = nil
        broken = (0, 0)
        note(manifest.index)
        events.append(.snapshot(snapshot))
    }

    /// The snapshot is broken, or its pieces are gone, as while others are being kept.
    ///
    /// It is asked for once more; then nothing is told, so that the sequencer asks again, and finds
    /// a newer one where there is one. When it stays the last one it counts as none: the log says
    /// whether it can be read without.
    private func giveUpBroken() {
        guard let load = loading else { return }
        guard load.isSecond else { return beginLoad(isSecond: true) }
        loading = nil
        broken = (load.sequence, broken.sequence == load.sequence ? broken.count + 1 : 1)
        if broken.count >= NATSSettings.brokenSnapshotLimit { events.append(.snapshot(nil)) }
    }
}
