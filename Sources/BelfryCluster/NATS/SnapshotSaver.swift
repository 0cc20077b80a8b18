import BelfryNATS

/// A save of a snapshot: pieces, a few at a time, and behind them the manifest that joins them.
///
/// Two brokers may save at the same time. Each names the sequences of its own pieces.
struct SnapshotSaver {
    /// The number of the last save that was wanted, even if there was no room for it.
    private(set) var lastNumber: UInt64 = 0
    private(set) var save: SnapshotSave?
    /// The size of the last snapshot, in bytes, if the journal had no room for the snapshot.
    private(set) var refusedByteCount: Int?

    /// Begins to keep a snapshot in place of another one that is being kept.
    ///
    /// - Returns: false where the journal has no room for the snapshot.
    mutating func begin(
        _ snapshot: JournalSnapshot, pieceByteCount: Int, byteLimit: Int
    ) -> Bool {
        lastNumber += 1
        let save = SnapshotSave(number: lastNumber, snapshot, pieceByteCount: pieceByteCount)
        guard snapshot.state.count <= byteLimit,
            save.sequences.count <= NATSSettings.pieceLimit
        else {
            refusedByteCount = snapshot.state.count
            return false
        }
        refusedByteCount = nil
        self.save = save
        return true
    }

    /// Lets the save of the same snapshot continue, as long as pieces of it are stored.
    ///
    /// - Returns: whether it does.
    mutating func extend(_ snapshot: JournalSnapshot) -> Bool {
        guard save?.hasMoved == true, save?.snapshot == snapshot else { return false }
        save?.hasMoved = false
        return true
    }

    mutating func cancel() { save = nil }

    /// The save of a number; nil where another one, or none, is under way.
    func save(of number: UInt64) -> SnapshotSave? { save?.number == number ? save : nil }

    /// Records that the next piece was sent.
    mutating func recordSent() { save?.sentCount += 1 }

    /// Whether the sequence of a piece is awaited.
    func awaitsPiece(_ place: UInt64, of number: UInt64) -> Bool {
        guard let save = save(of: number) else { return false }
        return place < save.sentCount && save.sequences[Int(place)] == 0
    }

    /// Records that a piece is stored.
    mutating func recordStored(_ place: UInt64, at sequence: UInt64) {
        save?.sequences[Int(place)] = sequence
        save?.storedCount += 1
        save?.hasMoved = true
    }
}
