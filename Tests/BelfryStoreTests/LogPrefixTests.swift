import BelfryCenter
import Testing

@testable import BelfryStore

/// The possible result of a loss of power: any part of the log.
@Suite("StoreFile: the log cut off anywhere")
struct LogPrefixTests {
    static let frameByteCount = 4_120
    static let headerByteCount = 32

    @Test("every prefix of the log is the state after one of the commits, in their order")
    func prefixes() throws {
        let original = try TemporaryDirectory()
        var source = ChangeSource(seed: 11, userInfoByteLimit: 3_000)
        var file = try StoreFile(directory: original.path, durability: .process)
        // With a ballast the log is long enough for the whole test.
        try file.layBallast()
        // The main file has the tables alone, and the log begins with the life's first transaction.
        let main = try original.bytes(of: "belfry.db")
        var states = [try content(of: &file)]
        var logByteCounts = [file.connection.logPageCount].map(Self.byteCount)
        for _ in 0..<20 {
            try file.commit(source.batch(8))
            states.append(try content(of: &file))
            logByteCounts.append(Self.byteCount(ofFrames: file.connection.logPageCount))
        }
        // Each table is in it.
        let last = states[20].centers
        #expect(last.contains { !$0.observers.isEmpty && !$0.asks.isEmpty })
        #expect(last.contains { !$0.values.isEmpty && !$0.timers.isEmpty })
        let log = try original.bytes(of: "belfry.db-wal")
        #expect(log.count >= logByteCounts[20])
        #expect(file.connection.logPageCount < file.logPageLimit)
        for byteCount in Self.cuts(of: log.count) {
            let copy = try TemporaryDirectory()
            try copy.write(main, to: "belfry.db")
            try copy.write(log[..<byteCount], to: "belfry.db-wal")
            var opened = try StoreFile(directory: copy.path, durability: .process)
            let commitCount = logByteCounts.count { $0 <= byteCount }
            #expect(
                try content(of: &opened) == states[max(commitCount - 1, 0)], "at \(byteCount)")
        }
    }

    /// The stored content without the parts that each life changes.
    private func content(of file: inout StoreFile) throws -> StoreImage {
        var image = try file.load()
        image.incarnation = 0
        image.isComplete = false
        image.isCopied = false
        for index in image.centers.indices { image.centers[index].isComplete = false }
        return image
    }

    private static func byteCount(ofFrames count: Int) -> Int {
        headerByteCount + count * frameByteCount
    }

    /// Each end of a frame, one byte before and one after it, and places inside of frames.
    private static func cuts(of byteCount: Int) -> [Int] {
        let ends = stride(from: headerByteCount, through: byteCount, by: frameByteCount)
        let cuts = ends.flatMap { [$0 - 1, $0, $0 + 1, $0 + 24, $0 + 2_000] }
        return [0, 1, 16] + cuts.filter { $0 <= byteCount }
    }
}
