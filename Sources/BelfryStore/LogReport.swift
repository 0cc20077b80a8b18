/// The content of a write-ahead log (sqlite.org/fileformat2, section 4), also past SQLite's end.
///
/// SQLite ends the log at the first frame whose checksum is wrong: both a torn write of the last
/// commit and a damaged frame in the middle look like that. Frames behind a commit were written
/// after that commit was synchronized, so a missing commit with such a frame behind it was damaged.
struct LogReport: Equatable {
    static let headerByteCount = 32
    static let frameHeaderByteCount = 24

    /// The salts of all frames of this log; nil when the log has no header that is whole.
    private(set) var salts: UInt64?
    /// Frames up to the last commit that can be read.
    private(set) var frameCount = 0
    private(set) var commitCount = 0
    /// The frames behind the first unreadable one, and the commits that end with one of them.
    private(set) var lostFrameCount = 0
    private(set) var lostCommitCount = 0
    /// Whether a commit that cannot be read was synchronized.
    private(set) var provesDamage = false

    private var checksum = LogChecksum()
    /// Frames that can be read, also those of a commit that does not end.
    private var wholeFrameCount = 0
    private var isBroken = false
    /// Whether the frame before ends a commit that cannot be read.
    private var followsLostCommit = false

    /// The salts in the header of a log that is whole.
    static func salts(of header: [UInt8]) -> UInt64 {
        LogChecksum.pair(header, at: 16)
    }

    /// Reads the header of a log.
    init(header: [UInt8]) {
        guard header.count == Self.headerByteCount else { return }
        let magic = LogChecksum.bigEndian(header, at: 0)
        guard magic & ~1 == 0x377F_0682, LogChecksum.bigEndian(header, at: 4) == 3_007_000,
            LogChecksum.bigEndian(header, at: 8) == UInt32(StoreSchema.pageByteCount)
        else { return }
        checksum.isBigEndian = magic & 1 == 1
        checksum.add(header[..<24])
        guard checksum.isStored(in: header, at: 24) else { return }
        salts = Self.salts(of: header)
    }

    /// Reads the next frame, which has its header and one page.
    mutating func add(frame: ArraySlice<UInt8>) {
        guard let salts, LogChecksum.pair(frame, at: 8) == salts else {
            isBroken = true
            followsLostCommit = false
            return
        }
        checksum.add(frame.prefix(8))
        checksum.add(frame.dropFirst(Self.frameHeaderByteCount))
        let isChained = checksum.isStored(in: frame, at: 16)
        let endsCommit = LogChecksum.bigEndian(frame, at: 4) != 0
        if isChained, !isBroken {
            wholeFrameCount += 1
            if endsCommit {
                frameCount = wholeFrameCount
                commitCount += 1
            }
            return
        }
        isBroken = true
        lostFrameCount += 1
        if endsCommit { lostCommitCount += 1 }
        if isChained, followsLostCommit { provesDamage = true }
        followsLostCommit = endsCommit
        // The next frame continues from the checksum that this one states.
        checksum.take(from: frame, at: 16)
    }
}

/// The checksum of a log: each frame continues that of the frame before.
struct LogChecksum: Equatable {
    /// The byte order in which words are added; stored checksums are always big endian.
    var isBigEndian = false
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    /// Adds bytes, a multiple of 8 of them.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            first &+= word(bytes, at: index) &+ second
            second &+= word(bytes, at: index + 4) &+ first
            index += 8
        }
    }

    func isStored(in bytes: some RandomAccessCollection<UInt8>, at offset: Int) -> Bool {
        Self.pair(bytes, at: offset) == UInt64(first) << 32 | UInt64(second)
    }

    mutating func take(from bytes: ArraySlice<UInt8>, at offset: Int) {
        let stored = Self.pair(bytes, at: offset)
        first = UInt32(stored >> 32)
        second = UInt32(truncatingIfNeeded: stored)
    }

    static func pair(_ bytes: some RandomAccessCollection<UInt8>, at offset: Int) -> UInt64 {
        UInt64(bigEndian(bytes, at: offset)) << 32 | UInt64(bigEndian(bytes, at: offset + 4))
    }

    static func bigEndian(_ bytes: some RandomAccessCollection<UInt8>, at offset: Int) -> UInt32 {
        bytes.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func word(_ bytes: ArraySlice<UInt8>, at index: Int) -> UInt32 {
        let word =
            UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8
            | UInt32(bytes[index + 2]) << 16 | UInt32(bytes[index + 3]) << 24
        return isBigEndian ? word.byteSwapped : word
    }
}
