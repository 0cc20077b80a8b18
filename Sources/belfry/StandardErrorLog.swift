import BelfryJSON
import BelfryServer
import BelfrySystem
import BelfryWire
import Logging

/// How log lines look.
enum LogFormat: String {
    /// For people.
    case text
    /// One JSON object a line.
    case json
}

/// Writes each entry as one line to standard error.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    let label: String
    let format: LogFormat

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }
        let entry = LogEntry(
            milliseconds: WallTime.now().milliseconds, level: event.level.rawValue, label: label,
            text: event.message.description,
            fields: fields.map { ($0.key, $0.value.description) }.sorted { $0.0 < $1.0 })
        do throws(SystemCallError) {
            try StandardStream.error.write(entry.line(format).span)
        } catch {
            // Nobody reads the log any more, and there is no other place to say so.
            return
        }
    }
}

/// One line of the log.
struct LogEntry {
    let milliseconds: Int64
    let level: String
    let label: String
    let text: String
    let fields: [(key: String, value: String)]

    /// The line with its line feed.
    func line(_ format: LogFormat) -> [UInt8] {
        var bytes: [UInt8] = []
        switch format {
        case .text: appendText(to: &bytes)
        case .json: appendJSON(to: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private func appendText(to bytes: inout [UInt8]) {
        TimeText.append(milliseconds: milliseconds, to: &bytes)
        bytes += " \(level) \(label): ".utf8
        bytes += text.utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }
        for (key, value) in fields {
            bytes += " \(key)=".utf8
            let isPlain = value.utf8.allSatisfy {
                $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"")
            }
            if isPlain, !value.isEmpty {
                bytes += value.utf8
            } else {
                JSONWriter.append(string: Array(value.utf8).span, to: &bytes)
            }
        }
    }

    private func appendJSON(to bytes: inout [UInt8]) {
        var time: [UInt8] = []
        TimeText.append(milliseconds: milliseconds, to: &time)
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("time", string: time, into: &bytes)
        writer.member("level", string: level, into: &bytes)
        writer.member("message", string: text, into: &bytes)
        for (key, value) in fields {
            writer.key(escaping: Array(key.utf8), into: &bytes)
            writer.string(value, into: &bytes)
        }
        writer.endObject(into: &bytes)
    }
}

extension ServerLog {
    /// A log that goes to standard error as the settings say.
    init(_ settings: Settings) {
        let isTerminal = StandardStream.error.isTerminal
        let handler = StandardErrorLog(
            logLevel: settings.logLevel, label: "belfry",
            format: settings.logFormat ?? (isTerminal ? .text : .json))
        let logger = Logger(label: "belfry") { _ in handler }
        self.init { level, text, fields in
            var metadata: Logger.Metadata = [:]
            for (key, value) in fields { metadata[key] = .string(value) }
            logger.log(level: Logger.Level(level), "\(text)", metadata: metadata)
        }
    }
}

extension Logger.Level {
    fileprivate init(_ level: ServerLog.Level) {
        switch level {
        case .debug: self = .debug
        case .info: self = .info
        case .warning: self = .warning
        case .error: self = .error
        }
    }
}
