import BelfryTLS

/// The message behind the pieces of a snapshot, which makes them one.
struct SnapshotManifest: Equatable {
    private static let version: UInt8 = 1
    private static let headByteCount = 1 + 8 + 8 + Digest.byteCount

    /// The index of the snapshot.
    var index: UInt64
    /// How many bytes it has.
    var byteCount: Int
    /// Its SHA-256.
    var digest: [UInt8]
    /// The sequences of its pieces in the stream: others may have published between them.
    var sequences: [UInt64]

    /// The bytes: a version, the numbers with the highest byte first, the digest, the sequences.
    var code: [UInt8] {
        var code = [Self.version]
        code.append(number: index)
        code.append(number: UInt64(byteCount))
        code += digest
        for sequence in sequences { code.append(number: sequence) }
        return code
    }
}

extension SnapshotManifest {
    /// Reads the bytes; nil for bytes that are no manifest of this version.
    ///
    /// - Parameter byteLimit: how many bytes a snapshot may have.
    init?(code: [UInt8], byteLimit: Int) {
        let head = Self.headByteCount
        let (pieceCount, rest) = max(0, code.count - head).quotientAndRemainder(dividingBy: 8)
        guard code.count >= head, code[0] == Self.version, rest == 0,
            pieceCount <= NATSSettings.pieceLimit,
            let byteCount = Int(exactly: code.number(at: 9)), byteCount <= byteLimit
        else { return nil }
        self.init(
            index: code.number(at: 1), byteCount: byteCount, digest: Array(code[17..<head]),
            sequences: (0..<pieceCount).map { code.number(at: head + 8 * $0) })
    }
}
