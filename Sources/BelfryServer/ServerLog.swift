/// Where the server tells what happened to it; the program decides what becomes of it.
///
/// Text never holds secrets, paths or another client's data.
public struct ServerLog: Sendable {
    /// How much an entry matters.
    public enum Level: Sendable {
        /// For whoever looks for a fault.
        case debug
        /// What an operator expects to see.
        case info
        /// What an operator should look at.
        case warning
        /// What the broker could not do.
        case error
    }

    private let sink: @Sendable (Level, String, [(String, String)]) -> Void

    /// Takes the function that gets each entry: level, message, and fields with their values.
    public init(_ sink: @escaping @Sendable (Level, String, [(String, String)]) -> Void) {
        self.sink = sink
    }

    /// A log that nobody reads.
    public static let silent = ServerLog { _, _, _ in }

    func write(_ level: Level, _ message: String, _ fields: (String, String)...) {
        sink(level, message, fields)
    }
}
