/// The value of a field of the log: text, or a number or a boolean, which it stays in JSON.
public protocol LogValue: Sendable, CustomStringConvertible {}

extension String: LogValue {}
extension Bool: LogValue {}
extension Int: LogValue {}
extension Int64: LogValue {}
extension UInt32: LogValue {}
extension UInt64: LogValue {}

/// Where the server tells what happened to it; the program decides what becomes of it.
///
/// Text never holds secrets, paths or another client's data.
public struct ServerLog: Sendable {
    /// How much an entry matters.
    public enum Level: Comparable, Sendable {
        /// Each request: for whoever follows one client.
        case trace
        /// For whoever looks for a fault.
        case debug
        /// What an operator expects to see.
        case info
        /// What an operator should look at.
        case warning
        /// What the broker could not do.
        case error
    }

    /// The least level that is told; it is compared before an entry is made where many may come.
    let level: Level
    /// How many lines were lost because nobody read them.
    let lostLineCount: @Sendable () -> UInt64
    private let sink: @Sendable (Level, String, [(String, any LogValue)]) -> Void

    /// Takes the function that gets each entry: level, message, and fields with their values.
    ///
    /// - Parameters:
    ///   - level: the least level that is told.
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

    /// A log that nobody reads.
    public static let silent = ServerLog(level: .error) { _, _, _ in }

    func write(_ level: Level, _ message: String, _ fields: (String, any LogValue)...) {
        if level >= self.level { sink(level, message, fields) }
    }
}
