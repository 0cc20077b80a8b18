/// The value of a field of the log: text, or a number or a boolean, which it stays in JSON.
public protocol LogValue: Sendable, CustomStringConvertible {}

extension String: LogValue {}
extension Bool: LogValue {}
extension Int: LogValue {}
extension Int64: LogValue {}
extension UInt32: LogValue {}
extension UInt64: LogValue {}

/// The sink of the server's events; the program decides what becomes of them.
///
/// Text never holds secrets, paths or another client's data.
public struct ServerLog: Sendable {
    /// The importance of an entry.
    public enum Level: Comparable, Sendable {
        /// Each request, to follow one client.
        case trace
        /// Details to look for a fault with.
        case debug
        /// Events that an operator expects.
        case info
        /// Events that an operator should look at.
        case warning
        /// Work that the broker could not do.
        case error
    }

    /// The least level that is written; frequent callers compare it before they make an entry.
    let level: Level
    /// The number of lines that were lost because their reader was too slow.
    let lostLineCount: @Sendable () -> UInt64
    private let sink: @Sendable (Level, String, [(String, any LogValue)]) -> Void

    /// Takes the function that gets each entry: level, message, and fields with their values.
    ///
    /// - level: the least level that is written.
    ///   - level: the least level that is written.
    ///   - lostLineCount: how many lines were lost since the start.
    ///   - sink: gets the entries, from any thread; it must not wait for their reader.
    public init(
        level: Level = .info, lostLineCount: @escaping @Sendable () -> UInt64 = { 0 },
        _ sink: @escaping @Sendable (Level, String, [(String, any LogValue)]) -> Void
    ) {
        self.level = level
        self.lostLineCount = lostLineCount
        self.sink = sink
    }

    /// A log without a reader.
    public static let silent = ServerLog(level: .error) { _, _, _ in }

    func write(_ level: Level, _ message: String, _ fields: (String, any LogValue)...) {
        if level >= self.level { sink(level, message, fields) }
    }
}
