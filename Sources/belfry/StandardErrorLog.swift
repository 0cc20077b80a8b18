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

/// Makes each entry a line that is written to standard error.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    let label: String
    let format: LogFormat
    let queue: LogQueue

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }
        let entry = LogEntry(
            milliseconds: WallTime.now().milliseconds, level: event.level.rawValue, label: label,
            text: event.message.description,
            fields: fields.map { ($0.key, Self.value($0.value)) }.sorted { $0.0 < $1.0 })
        queue.add(entry.line(format))
    }

    private static func value(_ value: Logger.MetadataValue) -> any LogValue {
        guard case .stringConvertible(let known) = value, let known = known as? any LogValue else {
            return value.description
        }
        return known
    }
}

/// One line of the log.
struct LogEntry {
    let milliseconds: Int64
    let level: String
    let label: String
    let text: String
    let fields: [(key: String, value: any LogValue)]

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
        for (key, field) in fields {
            let value = field.description
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
            // Numbers and booleans look in JSON as they do in Swift.
            switch value {
            case let text as String: writer.string(text, into: &bytes)
            default: writer.raw(Array(value.description.utf8), into: &bytes)
            }
        }
        writer.endObject(into: &bytes)
    }
}

/// The log of a command that serves: it goes to standard error as the settings say.
struct ServeLog {
    private static let label = "belfry"

    private let queue: LogQueue
    private let logger: Logger
    /// Where the server tells what happens.
    let server: ServerLog

    init(_ settings: Settings) throws(ToolError) {
        let isTerminal = StandardStream.error.isTerminal
        let format = settings.logFormat ?? (isTerminal ? .text : .json)
        let queue: LogQueue
        do throws(SystemCallError) {
            queue = try LogQueue(byteLimit: settings.logByteLimit) { count in
                let entry = LogEntry(
                    milliseconds: WallTime.now().milliseconds, level: "warning",
                    label: Self.label, text: "lines of the log were lost",
                    fields: [("lines", count)])
                return entry.line(format)
            } write: { bytes throws(SystemCallError) in
                try Screen.write(log: bytes)
            }
        } catch {
            throw ToolError(error)
        }
        let handler = StandardErrorLog(
            logLevel: settings.logLevel, label: Self.label, format: format, queue: queue)
        let logger = Logger(label: Self.label) { _ in handler }
        self.queue = queue
        self.logger = logger
        server = ServerLog(
            level: ServerLog.Level(settings.logLevel), lostLineCount: { queue.lostCount }
        ) { level, text, fields in
            var metadata: Logger.Metadata = [:]
            for (key, value) in fields { metadata[key] = .stringConvertible(value) }
            logger.log(level: Logger.Level(level), "\(text)", metadata: metadata)
        }
    }

    /// Adds an entry of the program itself.
    func note(_ message: String, _ fields: (String, any LogValue)...) {
        var metadata: Logger.Metadata = [:]
        for (key, value) in fields { metadata[key] = .stringConvertible(value) }
        logger.info("\(message)", metadata: metadata)
    }

    /// Waits until all lines are written, so that the last one before the end is not lost.
    ///
    /// A reader that does not read holds this up for two seconds.
    func close() {
        _ = queue.close(within: .seconds(2))
    }
}

extension Logger.Level {
    fileprivate init(_ level: ServerLog.Level) {
        switch level {
        case .trace: self = .trace
        case .debug: self = .debug
        case .info: self = .info
        case .warning: self = .warning
        case .error: self = .error
        }
    }
}

extension ServerLog.Level {
    /// The least level of the server's that is told at one of the program's.
    fileprivate init(_ level: Logger.Level) {
        switch level {
        case .trace: self = .trace
        case .debug: self = .debug
        case .info: self = .info
        case .notice, .warning: self = .warning
        case .error, .critical: self = .error
        }
    }
}
