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

    /// Whether all pieces are stored.
    var isStored: Bool { storedCount == sequences.count }

    /// The piece that is sent next; nil behind the last one, and while enough are under way.
    var nextPlace: Int? {
        sentCount < sequences.count && sentCount - storedCount < NATSSettings.pieceWindow
            ? sentCount : nil
    }

    /// The bytes of a piece in the snapshot.
    func range(of place: Int) -> Range<Int> {
        let start = place * pieceByteCount
        return start..<min(start + pieceByteCount, snapshot.state.count)
    }

    /// The message behind the pieces.
    var manifest: SnapshotManifest {
        SnapshotManifest(
            index: snapshot.index, byteCount: snapshot.state.count, digest: snapshot.digest,
            sequences: sequences)
    }
}
