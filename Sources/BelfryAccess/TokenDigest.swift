/// The SHA-256 of a secret, which is stored and looked up in its place.
public struct TokenDigest: Sendable, Hashable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Takes the 32 bytes of a SHA-256; nil for any other count.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        func word(_ start: Int) -> UInt64 {
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        words = (word(0), word(8), word(16), word(24))
    }

    /// Reads `sha256:` and 64 hexadecimal digits, as a key file has them.
    init?(text: [UInt8]) {
        let prefix = Array("sha256:".utf8)
        guard text.count == prefix.count + 64, text.starts(with: prefix) else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.dropFirst(prefix.count) {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high.take() { bytes.append(first << 4 | digit) } else { high = digit }
        }
        self.init(bytes)
    }

    /// The form of a key file.
    public var text: String {
        var text = "sha256:"
        for word in [words.0, words.1, words.2, words.3] {
            let digits = String(word, radix: 16)
            text += String(repeating: "0", count: 16 - digits.count) + digits
        }
        return text
    }

    /// The bucket in which it is looked for.
    var bucket: UInt64 { words.0 }

    /// Compares all words, whether or not the first ones differ: the time tells nothing.
    public static func == (left: TokenDigest, right: TokenDigest) -> Bool {
        let difference =
            (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1)
            | (left.words.2 ^ right.words.2) | (left.words.3 ^ right.words.3)
        return difference == 0
    }

    /// Hashes all words.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
