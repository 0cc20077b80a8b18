import BelfryNATS

// How a journal keeps a snapshot: pieces, a few at a time, and behind them what makes them whole.
//
// Two brokers may do so at the same time. Each names the sequences of its own pieces.

extension NATSJournal {
    /// Keeps a snapshot in place of another one that is being kept.
    ///
    /// The same snapshot continues as long as pieces of it are stored.
    public func save(_ snapshot: JournalSnapshot) {
        if saving?.hasMoved == true, saving?.snapshot == snapshot {
            saving?.hasMoved = false
            return
        }
        guard progress == .ready, let maxPayload = server?.maxPayload else { return }
        saveNumber += 1
        let save = SnapshotSave(
            number: saveNumber, snapshot,
            pieceByteCount: min(NATSSettings.pieceByteCount, maxPayload))
        guard snapshot.state.count <= snapshotByteLimit,
            save.sequences.count <= NATSSettings.pieceLimit
        else { return refusedSnapshotByteCount = snapshot.state.count }
        refusedSnapshotByteCount = nil
        saving = save
        sendPieces()
    }

    /// The most bytes of a snapshot: there is room for the last one and two that are being kept.
    var snapshotByteLimit: Int { settings.snapshotByteLimit / 3 }

    private func sendPieces() {
        while let save = saving, save.sentCount < save.sequences.count,
            save.sentCount - save.storedCount < NATSSettings.pieceWindow
        {
            let piece = save.snapshot.state.span.extracting(save.range(of: save.sentCount))
            let inquiry = Inquiry.piece(save: save.number, place: UInt64(save.sentCount))
            guard publish(piece, to: names.pieceSubject, inquiry) else { return saving = nil }
            saving?.sentCount += 1
        }
        guard let save = saving, save.storedCount == save.sequences.count else { return }
        ask(.directGetLast(names.snapshots, names.wholeSubject), .check(save: save.number))
    }

    func takePiece(_ message: Message, of number: UInt64, at place: UInt64) {
        guard let save = saving, save.number == number, place < save.sentCount,
            save.sequences[Int(place)] == 0
        else { return }
        guard let sequence = sequence(message, in: names.snapshots) else { return saving = nil }
        saving?.sequences[Int(place)] = sequence
        saving?.storedCount += 1
        saving?.hasMoved = true
        sendPieces()
    }

    /// Takes the last whole snapshot: a later one of another broker stays the last.
    func takeCheck(_ message: Message, of number: UInt64) {
        guard let save = saving, save.number == number, save.storedCount == save.sequences.count,
            let answer = try? DirectAnswer(message)
        else { return }
        switch answer {
        case .message:
            let last = SnapshotManifest(code: message.payload, byteLimit: snapshotByteLimit)
            if let last, last.index > save.snapshot.index {
                saving = nil
                return events.append(.saved(index: save.snapshot.index))
            }
            sendWhole()
        case .notFound: sendWhole()
        case .endOfBatch, .badRequest, .noResponders, .other: saving = nil
        }
    }

    private func sendWhole() {
        guard let save = saving else { return }
        let manifest = SnapshotManifest(
            index: save.snapshot.index, byteCount: save.snapshot.state.count,
            digest: save.snapshot.digest, sequences: save.sequences)
        let isSent = publish(
            manifest.code.span, to: names.wholeSubject, .whole(save: save.number))
        if !isSent { saving = nil }
    }

    func takeWhole(_ message: Message, of number: UInt64) {
        guard let save = saving, save.number == number else { return }
        saving = nil
        guard sequence(message, in: names.snapshots) != nil else { return }
        events.append(.saved(index: save.snapshot.index))
    }
}
