import BelfryNATS

/// How an input is cut into pieces.
enum Cut: CaseIterable {
    case whole, bytes, threes, sevens

    func pieces(of input: [UInt8]) -> [[UInt8]] {
        let size =
            switch self {
            case .whole: max(input.count, 1)
            case .bytes: 1
            case .threes: 3
            case .sevens: 7
            }
        return stride(from: 0, to: input.count, by: size).map {
            Array(input[$0..<min($0 + size, input.count)])
        }
    }
}

/// The result of a parser for a whole input: its events, and the error that ended it.
struct Transcript: Equatable {
    var events: [ServerEvent] = []
    var error: NATSError?
    var isBetweenEvents = true
    var leavesBytes = false

    init(
        of input: String, cut: Cut = .whole,
        limits: NATSLimits = NATSLimits(payloadByteLimit: 4_096)
    ) {
        var parser = ServerParser(limits: limits)
        do throws(NATSError) {
            for piece in cut.pieces(of: Array(input.utf8)) {
                var cursor = 0
                while let event = try parser.nextEvent(in: piece.span, at: &cursor) {
                    events.append(event)
                }
                if cursor != piece.count { leavesBytes = true }
            }
        } catch {
            self.error = error
        }
        isBetweenEvents = parser.isBetweenEvents
    }

    /// The messages among the events.
    var messages: [Message] {
        events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    /// The events in words.
    var lines: [String] {
        events.map { event in
            switch event {
            case .info(let info): "info \(info.version)"
            case .message(let message):
                ([text(message.subject), "\(message.sid)", message.replyTo.map(text) ?? "-"]
                    + [text(message.headerBytes), text(message.payload)])
                    .joined(separator: "|")
            case .ping, .pong, .ok: "\(event)"
            case .error(let refusal): "error \(text(refusal.text)) \(refusal.keepsConnection)"
            }
        } + (error.map { ["\($0)"] } ?? []) + (leavesBytes ? ["leaves bytes"] : [])
            + (isBetweenEvents || error != nil ? [] : ["waiting"])
    }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// The value of a field as text, or `nil`.
func text(_ field: HeaderField, in headers: HeaderBlock) -> String? {
    guard let value = headers.value(of: field) else { return nil }
    return value.indices.reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar(value[$1])) }
}
