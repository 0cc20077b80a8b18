import BelfryNATS

/// A load of the last whole snapshot: its manifest, and then its pieces, a few at a time.
struct SnapshotLoader {
    /// The next thing to do for the load.
    enum Step {
        case askManifest
        case askPieces([(place: UInt64, sequence: UInt64)])
        case report(JournalSnapshot?)
    }

    /// The number of the last load; answers to an earlier one are ignored.
    private(set) var number: UInt64 = 0
    private var load: SnapshotLoad?
    /// The last snapshot that was broken, by its sequence, and how often in a row.
    private var broken: (sequence: UInt64, count: Int) = (0, 0)
    /// How many bytes a snapshot may have.
    let byteLimit: Int

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    var isIdle: Bool { load == nil }

    /// Begins a load; one on its way is awaited for as long as pieces of it come.
    mutating func begin() -> Step? {
        if load?.hasMoved == true {
            load?.hasMoved = false
            return nil
        }
        return restart(isSecond: false)
    }

    mutating func cancel() { load = nil }

    private mutating func restart(isSecond: Bool) -> Step {
        number += 1
        load = SnapshotLoad(isSecond: isSecond)
        return .askManifest
    }

    // MARK: The manifest

    func awaitsManifest(of number: UInt64) -> Bool {
        number == self.number && load.map { $0.manifest == nil } ?? false
    }

    /// Receives the awaited manifest.
    mutating func receiveManifest(_ answer: DirectAnswer, _ code: [UInt8]) -> Step? {
        switch answer {
        case .message(let place):
            load?.sequence = place.sequence
            load?.hasMoved = true
            guard let manifest = SnapshotManifest(code: code, byteLimit: byteLimit)
            else { return giveUpBroken() }
            load?.manifest = manifest
            return askPieces()
        case .notFound:
            cancel()
            return .report(nil)
        case .endOfBatch, .badRequest, .noResponders, .other:
            cancel()
            return nil
        }
    }

    // MARK: Pieces

    private mutating func askPieces() -> Step? {
        guard let manifest = load?.manifest, let pieceCount = load?.pieceCount,
            let askedCount = load?.askedCount
        else { return nil }
        if pieceCount == manifest.sequences.count { return finish(manifest) }
        let end = min(pieceCount + NATSSettings.pieceWindow, manifest.sequences.count)
        let places = askedCount..<max(askedCount, end)
        load?.askedCount = places.upperBound
        return .askPieces(places.map { (UInt64($0), manifest.sequences[$0]) })
    }

    func awaitsPiece(_ place: UInt64, of number: UInt64) -> Bool {
        number == self.number && load?.isAwaited(place) == true
    }

    /// Receives an awaited piece.
    mutating func receivePiece(
        _ answer: DirectAnswer, _ piece: [UInt8], at place: UInt64
    ) -> Step? {
        // No copy of the pieces so far is held, or it would be made anew with each piece.
        guard let manifest = load?.manifest, let byteCount = load?.state.count else { return nil }
        switch answer {
        case .message(let stored):
            guard stored.sequence == manifest.sequences[Int(place)],
                byteCount + piece.count <= manifest.byteCount
            else { return giveUpBroken() }
            load?.add(piece, at: Int(place))
            return askPieces()
        case .notFound: return giveUpBroken()
        case .endOfBatch, .badRequest, .noResponders, .other:
            cancel()
            return nil
        }
    }

    private mutating func finish(_ manifest: SnapshotManifest) -> Step? {
        guard let state = load?.state, state.count == manifest.byteCount
        else { return giveUpBroken() }
        let snapshot = JournalSnapshot(index: manifest.index, state: state)
        guard snapshot.digest == manifest.digest else { return giveUpBroken() }
        cancel()
        broken = (0, 0)
        return .report(snapshot)
    }

    /// Gives up a snapshot that is broken, or whose pieces are gone, as while others are kept.
    ///
    /// It is asked for once more; then nothing is reported, so that the sequencer asks again, and
    /// finds a newer one where there is one. When it stays the last one it counts as none: the log
    /// shows whether it can be read without.
    private mutating func giveUpBroken() -> Step? {
        guard let load else { return nil }
        guard load.isSecond else { return restart(isSecond: true) }
        broken = (load.sequence, broken.sequence == load.sequence ? broken.count + 1 : 1)
        cancel()
        return broken.count >= NATSSettings.brokenSnapshotLimit ? .report(nil) : nil
    }
}
