import BelfryBytes

/// Writes fields as bytes.
struct CodeWriter: Coder {
    private(set) var bytes: [UInt8] = []
    let version: UInt64

    /// Makes a writer of a version, by default the newest.
    init(of version: UInt64 = .max) { self.version = version }

    /// Makes a writer that writes the version first.
    init(version: UInt64) {
        self.init(of: version)
        _ = word(version)
    }

    /// Writes a value.
    mutating func write(_ value: some Coded) {
        // A writer throws nothing.
        _ = try? type(of: value).init(value, by: &self)
    }

    /// Forgets what was written; room for so many bytes is used again.
    mutating func clear(keeping byteLimit: Int) {
        if bytes.capacity > byteLimit { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
    }

    var isReading: Bool { false }
    var isAtEnd: Bool { false }
    var seed: HashSeed { preconditionFailure("what is written has its hash tables") }

    mutating func word(_ known: UInt64?) -> UInt64 {
        let word = Self.value(known)
        var rest = word
        while rest > 0x7F {  // Bound: levels
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
        return word
    }

    mutating func bytes(_ known: [UInt8]?) -> [UInt8] {
        let text = Self.value(known)
        _ = count(text.count)
        bytes += text
        return text
    }

    mutating func content(_ known: Notification.Content?) -> Notification.Content {
        let content = Self.value(known)
        write(content.name)
        _ = word(content.object == nil ? 0 : 1)
        if let object = content.object { write(object) }
        _ = word(content.userInfo == nil ? 0 : 1)
        if let userInfo = content.userInfo { write(userInfo) }
        return content
    }

    /// Writes bytes, behind their count.
    private mutating func write(_ text: Span<UInt8>) {
        _ = count(text.count)
        bytes.append(text)
    }

    mutating func count(_ known: Int?) -> Int {
        let count = Self.value(known)
        _ = word(UInt64(count))
        return count
    }

    private static func value<Value>(_ known: Value?) -> Value {
        guard let known else { preconditionFailure("what is written is known") }
        return known
    }
}
