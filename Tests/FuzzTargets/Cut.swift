/// How an input is cut into pieces: by one seed always in the same way.
struct Cut {
    private var state: UInt64
    private let longest: Int

    /// The seed 0 cuts into single bytes.
    init(_ seed: UInt8) {
        state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
        longest = seed == 0 ? 1 : 1 + Int(seed)
    }

    private mutating func nextSize() -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return 1 + Int(state >> 33) % longest
    }

    /// The pieces of an input, none of them empty.
    func pieces(of input: [UInt8]) -> [[UInt8]] {
        var cut = self
        var pieces: [[UInt8]] = []
        var start = 0
        while start < input.count {
            let end = min(input.count, start + cut.nextSize())
            pieces.append(Array(input[start..<end]))
            start = end
        }
        return pieces
    }
}

/// The events of a parser for an input, in a form that can be compared.
struct Transcript: Equatable {
    private(set) var entries: [Entry] = []

    struct Entry: Equatable {
        var word: String
        var bytes: [UInt8] = []
    }

    mutating func add(_ word: String, _ bytes: [UInt8] = []) {
        entries.append(Entry(word: word, bytes: bytes))
    }

    mutating func add(_ word: String, _ bytes: Span<UInt8>) {
        entries.append(Entry(word: word, bytes: copy(bytes)))
    }

    /// Adds content to the content before it, so that the cuts do not show.
    mutating func addContent(_ bytes: ArraySlice<UInt8>) {
        if let last = entries.indices.last, entries[last].word == "content" {
            entries[last].bytes += bytes
        } else {
            add("content", Array(bytes))
        }
    }

    /// The first difference to another transcript of the same input.
    func difference(to other: Transcript) -> String? {
        if self == other { return nil }
        let place = zip(entries, other.entries).prefix { $0 == $1 }.count
        let left = place < entries.count ? "\(entries[place])" : "nothing"
        let right = place < other.entries.count ? "\(other.entries[place])" : "nothing"
        return "entry \(place): whole \(left), in pieces \(right)"
    }
}

/// Copies the bytes of a span.
func copy(_ span: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(span.count)
    for index in span.indices { bytes.append(span[index]) }
    return bytes
}
