import BelfryNATS

// How a journal keeps a snapshot: it sends pieces, and behind them the manifest.

extension NATSJournal {
    /// Keeps a snapshot in place of another one that is being kept.
    ///
    /// The same snapshot continues as long as pieces of it are stored.
    public func save(_ snapshot: JournalSnapshot) {
        if saver.extend(snapshot) { return }
        guard progress == .ready, let maxPayload = server?.maxPayload else { return }
        let pieceByteCount = min(NATSSettings.pieceByteCount, maxPayload)
        let isBegun = saver.begin(
            snapshot, pieceByteCount: pieceByteCount, byteLimit: snapshotByteLimit)
        if isBegun { sendPieces() }
    }

    /// The size of the last snapshot, in bytes, if the journal had no room for the snapshot.
    public var refusedSnapshotByteCount: Int? { saver.refusedByteCount }

    /// The most bytes of a snapshot: there is room for the last one and two that are being kept.
    var snapshotByteLimit: Int { settings.snapshotByteLimit / 3 }

    /// Sends the next pieces; behind the last one, asks which snapshot is the last whole one.
    private func sendPieces() {
        while let save = saver.save, let place = save.nextPlace {
            let piece = save.snapshot.state.span.extracting(save.range(of: place))
            let inquiry = Inquiry.piece(save: save.number, place: UInt64(place))
            guard publish(piece, to: names.pieceSubject, inquiry) else { return saver.cancel() }
            saver.recordSent()
        }
        guard let save = saver.save, save.isStored else { return }
        ask(.directGetLast(names.snapshots, names.wholeSubject), .check(save: save.number))
    }

    func receivePiece(_ message: Message, of number: UInt64, at place: UInt64) {
        guard saver.awaitsPiece(place, of: number) else { return }
        guard let sequence = sequence(message, in: names.snapshots) else { return saver.cancel() }
        saver.recordStored(place, at: sequence)
        sendPieces()
    }

    /// Compares with the last whole snapshot: a later one of another broker stays the last.
    func receiveCheck(_ message: Message, of number: UInt64) {
        guard let save = saver.save(of: number), save.isStored,
            let answer = try? DirectAnswer(message)
        else { return }
        switch answer {
        case .message:
            let last = SnapshotManifest(code: message.payload, byteLimit: snapshotByteLimit)
            if let last, last.index > save.snapshot.index {
                saver.cancel()
                events.append(.saved(index: save.snapshot.index))
            } else {
                sendWhole(save)
            }
        case .notFound: sendWhole(save)
        case .endOfBatch, .badRequest, .noResponders, .other: saver.cancel()
        }
    }

    private func sendWhole(_ save: SnapshotSave) {
        let isSent = publish(
            save.manifest.code.span, to: names.wholeSubject, .whole(save: save.number))
        if !isSent { saver.cancel() }
    }

    func receiveWhole(_ message: Message, of number: UInt64) {
        guard let save = saver.save(of: number) else { return }
        saver.cancel()
        guard sequence(message, in: names.snapshots) != nil else { return }
        events.append(.saved(index: save.snapshot.index))
    }
}
