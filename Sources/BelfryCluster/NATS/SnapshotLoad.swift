/// A snapshot that is being asked for.
struct SnapshotLoad {
    let number: UInt64
    /// Whether a broken one was found before.
    let isSecond: Bool
    /// Which message says what belongs to it.
    var sequence: UInt64 = 0
    var manifest: SnapshotManifest?
    /// The pieces so far, without a hole.
    var state: [UInt8] = []
    /// How many pieces that is.
    var pieceCount = 0
    /// Pieces that came before the one that is next.
    var early: [Int: [UInt8]] = [:]
    var askedCount = 0
    /// Whether anything of it has come since it was last asked for.
    var hasMoved = false

    init(number: UInt64, isSecond: Bool) {
        self.number = number
        self.isSecond = isSecond
    }

    /// Whether a piece was asked for and has not come.
    func isAwaited(_ place: UInt64) -> Bool {
        place < askedCount && place >= pieceCount && early[Int(place)] == nil
    }

    /// Takes a piece.
    mutating func take(_ piece: [UInt8], at place: Int) {
        hasMoved = true
        early[place] = piece
        while let next = early.removeValue(forKey: pieceCount) {
            state += next
            pieceCount += 1
        }
    }
}
