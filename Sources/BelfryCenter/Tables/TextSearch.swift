/// Searches a text within others, the letters of ASCII in either case (Knuth, Morris and Pratt).
///
/// The time does not grow with the repetitions of a part of it.
struct TextSearch {
    private let wanted: [UInt8]
    /// For each place, how many bytes of the beginning still match when the next one differs.
    private let fallbacks: [Int]
    /// How many bytes of text may still be searched.
    private var rest: Int

    init(for text: [UInt8], byteLimit: Int) {
        precondition(!text.isEmpty, "a search has a text")
        wanted = text.map(Self.folded)
        rest = byteLimit
        var fallbacks = [Int](repeating: 0, count: wanted.count)
        var length = 0
        for place in wanted.indices.dropFirst() {  // Bound: bytes
            // Bound: bytes
            while length > 0, wanted[length] != wanted[place] { length = fallbacks[length - 1] }
            if wanted[length] == wanted[place] { length += 1 }
            fallbacks[place] = length
        }
        self.fallbacks = fallbacks
    }

    /// Whether the limit of searched bytes is reached.
    var isOver: Bool { rest <= 0 }

    /// Whether one of some texts contains it.
    mutating func finds(in texts: [[UInt8]?]) -> Bool {
        texts.contains { $0.map { finds(in: $0) } ?? false }
    }

    private mutating func finds(in text: [UInt8]) -> Bool {
        rest -= text.count
        var length = 0
        for byte in text {  // Bound: bytes
            let byte = Self.folded(byte)
            while length > 0, wanted[length] != byte {  // Bound: bytes
                length = fallbacks[length - 1]
            }
            if wanted[length] == byte { length += 1 }
            if length == wanted.count { return true }
        }
        return false
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
