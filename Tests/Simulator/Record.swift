/// The events of a center as bytes: parts, and texts behind each.
///
/// Reader and writer are built from the same sources.
struct Record {
    private(set) var bytes: [UInt8] = []
    private var position = 0

    enum Part: UInt8 {
        case start, command, endOfTurn, commit, restart, digest
    }

    init(bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    static func number(_ word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }

    mutating func write(_ part: Part, _ texts: [UInt8]...) {
        bytes.append(part.rawValue)
        for text in texts {
            bytes += Self.number(UInt64(text.count))
            bytes += text
        }
    }

    /// The next part; `nil` at the end.
    mutating func part() -> Part? {
        guard position < bytes.count, let part = Part(rawValue: bytes[position]) else { return nil }
        position += 1
        return part
    }

    mutating func text() -> [UInt8] {
        let count = bytes[position..<position + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
        position += 8 + count
        return Array(bytes[position - count..<position])
    }
}
