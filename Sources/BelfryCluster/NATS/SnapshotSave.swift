/// A snapshot that is being kept.
struct SnapshotSave {
    let number: UInt64
    let snapshot: JournalSnapshot
    let pieceByteCount: Int
    /// The sequences of the pieces in the stream; 0 for one that is not stored yet.
    var sequences: [UInt64]
    var sentCount = 0
    var storedCount = 0
    /// Whether a piece was stored since the snapshot was last to be kept.
    var hasMoved = false

    init(number: UInt64, _ snapshot: JournalSnapshot, pieceByteCount: Int) {
        self.number = number
        self.snapshot = snapshot
        self.pieceByteCount = pieceByteCount
        let pieceCount = (snapshot.state.count + pieceByteCount - 1) / pieceByteCount
        sequences = Array(repeating: 0, count: pieceCount)
    }

    /// Where a piece lies in the snapshot.
    func range(of place: Int) -> Range<Int> {
        let start = place * pieceByteCount
        return start..<min(start + pieceByteCount, snapshot.state.count)
    }
}
