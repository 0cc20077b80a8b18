internal import BelfrySystem

/// The lock file's record of the log: the length that was committed at the last report.
///
/// It is written after each commit and never synchronized. It is exact while the machine runs, for
/// the system keeps written data; after a loss of power it may be old, and the log must have at
/// least that much, if each commit was synchronized.
struct LogWitness: Equatable {
    /// The length of the text: that of no number changes, so nothing old is left behind it.
    static let byteCount = 128
    private static let form = "1"
    private static let movedWord = "moved"

    /// The last life that the directory had; 0 when that is not known.
    var incarnation: UInt64 = 0
    /// Which start of the machine it was written in.
    var boot: [UInt8] = []
    var durability = Durability.power
    /// The salts of the log, and how many frames and commits it has.
    var salts: UInt64 = 0
    var frameCount = 0
    var commitCount = 0
    /// Whether all of it is in the main file.
    ///
    /// It may then be missing. While it is there it is read before the main file, so it must be
    /// whole.
    var isMoved = true

    init() {}

    /// Reads the text of the lock file; earlier programs wrote the life alone.
    init(text: [UInt8]) {
        let words = text.split(separator: UInt8(ascii: " ")).map {
            String(decoding: $0, as: UTF8.self)
        }
        incarnation = words.first.flatMap { UInt64($0) } ?? 0
        guard words.count >= 8, words[1] == Self.form, let salts = UInt64(words[4], radix: 16),
            let frameCount = Int(words[5]), let commitCount = Int(words[6])
        else { return }
        boot = Array(words[2].utf8)
        durability = words[3] == "process" ? .process : .power
        self.salts = salts
        self.frameCount = frameCount
        self.commitCount = commitCount
        isMoved = words[7] == Self.movedWord
    }

    /// The text, which begins with the life as that of earlier programs does.
    var text: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        for word in [
            String(incarnation), Self.form,
            boot.isEmpty ? "-" : String(decoding: boot, as: UTF8.self),
            durability == .process ? "process" : "power", String(salts, radix: 16),
            String(frameCount), String(commitCount), isMoved ? Self.movedWord : "needed",
        ] {
            bytes += word.utf8
            bytes.append(UInt8(ascii: " "))
        }
        let padding = max(0, Self.byteCount - bytes.count - 1)
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: padding)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Begins with a life that was begun, whose first commit the log has.
    mutating func begin(
        _ opened: borrowing StoreOpening.Opened, durability: Durability, header: [UInt8]
    ) {
        incarnation = opened.incarnation
        boot = BootIdentity.current()
        self.durability = durability
        salts = opened.log.salts ?? 0
        commitCount = opened.log.commitCount
        note(header: header, frameCount: opened.connection.logPageCount)
    }

    /// Notes a commit, after which the log has this header and so many frames.
    mutating func note(header: [UInt8], frameCount count: Int) {
        guard header.count == LogReport.headerByteCount else {
            isMoved = true
            return
        }
        let found = LogReport.salts(of: header)
        if found != salts { commitCount = 0 }
        salts = found
        frameCount = count
        commitCount += 1
        isMoved = false
    }

    /// The part that a log lacks; nil when the log is complete.
    ///
    /// - Parameters:
    ///   - boot: the identity of this start of the machine.
    ///   - fallback: the durability of commits, where the witness does not state it.
    func damage(
        in report: LogReport, boot now: [UInt8], fallback: Durability
    ) -> StoreError.Damage? {
        let isExact = !boot.isEmpty && boot == now
        let isPower = (boot.isEmpty ? fallback : durability) == .power
        let isSame = report.salts == salts
        // Before a log is moved it is synchronized, whatever commits survive.
        if isMoved ? isSame : (isExact || isPower) && !isOlder(than: report) {
            let (frames, commits) = isSame ? (report.frameCount, report.commitCount) : (0, 0)
            if frames < frameCount {
                return .brokenLog(
                    pageCount: frameCount - frames, commitCount: max(commitCount - commits, 1))
            }
        }
        if isExact || !isPower || !report.provesDamage { return nil }
        return .brokenLog(pageCount: report.lostFrameCount, commitCount: report.lostCommitCount)
    }

    /// Whether the log began anew since: then all of the old one is in the main file.
    private func isOlder(than report: LogReport) -> Bool {
        guard let found = report.salts else { return false }
        // SQLite counts the first salt up by one.
        return Int32(truncatingIfNeeded: (found >> 32) &- (salts >> 32)) > 0
    }
}
