import BelfrySystem
import Synchronization

@testable import BelfryServer

/// The log lines of a broker, for inspection.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    /// The lines since the last look.
    func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// A log that comes here.
    func log(_ level: ServerLog.Level = .trace) -> ServerLog {
        ServerLog(level: level) { level, message, fields in
            let line = ([message] + fields.map { "\($0)=\($1)" }).joined(separator: " ")
            self.lines.withLock { $0.append(line) }
        }
    }
}
