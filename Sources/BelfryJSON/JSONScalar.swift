import BelfryBytes

/// A value as conditions compare it: its kind, and where its text is.
///
/// The text is a userInfo or belongs to a condition; it is handed to each method.
struct JSONScalar: Sendable {
    /// The kinds that are told apart.
    enum Kind: UInt8, Sendable {
        /// A string as it is compared, from `start` to `end`.
        case string
        /// A string that has escapes from `start` to `end`.
        case escapedString
        /// A number, of which the digits that count are from `start` to `end`.
        case number
        case trueLiteral
        case falseLiteral
        /// The literal `null`, or no value.
        case null
        /// An array that opens at `start`.
        case array
        /// A value that equals none: an object, a string with half a surrogate pair, and a number
        /// with a longer exponent than numbers have here.
        case other
    }

    /// The most digits of an exponent.
    static let exponentDigitLimit = 9
    /// No value.
    static let null = JSONScalar(.null)

    let kind: Kind
    /// Whether a number is below 0.
    let isNegative: Bool
    /// The first eight bytes of a string, the first one lowest; zeros behind a shorter one.
    private let word: UInt64
    private(set) var start: Int32
    private(set) var end: Int32
    /// The exponent of a number whose digits follow a point and a zero: of 100 it is 3.
    private let magnitude: Int32

    private init(
        _ kind: Kind, _ range: Range<Int> = 0..<0, word: UInt64 = 0, magnitude: Int = 0,
        isNegative: Bool = false
    ) {
        self.kind = kind
        self.isNegative = isNegative
        self.word = word
        start = Int32(truncatingIfNeeded: range.lowerBound)
        end = Int32(truncatingIfNeeded: range.upperBound)
        self.magnitude = Int32(truncatingIfNeeded: magnitude)
    }

    /// A string without escapes.
    init(string range: Range<Int>, in text: Span<UInt8>) {
        self.init(.string, range, word: text.firstWord(of: range))
    }

    /// The value that begins at `index` of a valid text.
    @inline(__always)
    init(at index: Int, in text: Span<UInt8>) {
        switch text.byte(at: index) {
        case .quote:
            let string = text.validString(at: index)
            self.init(
                string.hasEscapes ? .escapedString : .string, string.content, word: string.word)
        case UInt8(ascii: "t"): self.init(.trueLiteral)
        case UInt8(ascii: "f"): self.init(.falseLiteral)
        case UInt8(ascii: "n"): self.init(.null)
        case .minus, .zero ... .nine: self.init(numberAt: index, in: text)
        case .openBracket: self.init(.array, index..<index + 1)
        default: self.init(.other)
        }
    }

    /// The place of the text.
    var range: Range<Int> { Int(start)..<Int(end) }

    /// The same value where its text was copied to.
    func moved(by distance: Int) -> JSONScalar {
        var moved = self
        moved.start += Int32(truncatingIfNeeded: distance)
        moved.end += Int32(truncatingIfNeeded: distance)
        return moved
    }

    /// The string without its escapes, whose text takes the place of what `unescaped` has.
    func plain(in text: Span<UInt8>, into unescaped: inout [UInt8]) -> JSONScalar {
        unescaped.removeAll(keepingCapacity: true)
        do throws(JSONError) {
            let string = JSONStringRange(content: range, hasEscapes: true)
            try JSONReader.unescape(string, of: text, into: &unescaped)
        } catch {
            return JSONScalar(.other)
        }
        return JSONScalar(string: 0..<unescaped.count, in: unescaped.span)
    }

    /// Whether two values are equal, each in its text.
    @inline(__always)
    func isEqual(
        in text: Span<UInt8>, to other: JSONScalar, in otherText: Span<UInt8>
    ) -> Bool {
        guard kind == other.kind, word == other.word else { return false }
        return isEqualToTheEnd(in: text, to: other, in: otherText)
    }

    /// Whether two values of one kind are equal; strings have the same first bytes.
    @inline(never)
    private func isEqualToTheEnd(
        in text: Span<UInt8>, to other: JSONScalar, in otherText: Span<UInt8>
    ) -> Bool {
        switch kind {
        case .string: bytesAreEqual(text.extracting(range), otherText.extracting(other.range))
        case .number: order(in: text, with: other, in: otherText) == 0
        case .trueLiteral, .falseLiteral, .null: true
        case .escapedString, .array, .other: false
        }
    }
}

// Numbers are decimals of any length, and no double lies between a text and its comparison.
extension JSONScalar {
    /// Reads the number that begins at `index` of a valid text.
    private init(numberAt index: Int, in text: Span<UInt8>) {
        let isNegative = text.byte(at: index) == .minus
        var next = isNegative ? index &+ 1 : index
        // The first digit that is not 0, the end of the last one, and the point.
        var (first, end, point) = (-1, -1, -1)
        while true {
            let byte = text.byte(at: next)
            if byte.isDigit {
                if byte != .zero {
                    if first < 0 { first = next }
                    end = next &+ 1
                }
            } else if byte == .dot {
                point = next
            } else {
                break
            }
            next &+= 1
        }
        if point < 0 { point = next }
        var exponent = 0
        if text.byte(at: next) | 0x20 == UInt8(ascii: "e") {
            guard let read = Self.exponent(at: next &+ 1, in: text) else {
                self.init(.other)
                return
            }
            exponent = read
        }
        // All digits are 0, and so is the number, whatever its sign.
        guard first >= 0 else {
            self.init(.number)
            return
        }
        // A digit right behind the point has the magnitude 0.
        let magnitude = exponent &+ point &- first &+ (first > point ? 1 : 0)
        self.init(.number, first..<end, magnitude: magnitude, isNegative: isNegative)
    }

    /// Reads an exponent behind its letter; nil when it has too many digits.
    private static func exponent(at index: Int, in text: Span<UInt8>) -> Int? {
        let sign = text.byte(at: index)
        var next = sign == .minus || sign == .plus ? index &+ 1 : index
        let end = next &+ exponentDigitLimit
        var value = 0
        while text.byte(at: next).isDigit {
            guard next < end else { return nil }
            value = value &* 10 &+ Int(text.byte(at: next) &- .zero)
            next &+= 1
        }
        return sign == .minus ? 0 &- value : value
    }

    /// The order of two numbers: below 0 where this one is less, 0 where they are equal.
    func order(in text: Span<UInt8>, with other: JSONScalar, in otherText: Span<UInt8>) -> Int {
        let (sign, otherSign) = (self.sign, other.sign)
        guard sign == otherSign else { return sign &- otherSign }
        guard magnitude == other.magnitude else {
            return magnitude < other.magnitude ? 0 &- sign : sign
        }
        var (index, otherIndex) = (Int(start), Int(other.start))
        while index < Int(end), otherIndex < Int(other.end) {
            // The last digit of each is none of these points.
            if text.byte(at: index) == .dot { index &+= 1 }
            if otherText.byte(at: otherIndex) == .dot { otherIndex &+= 1 }
            let (digit, otherDigit) = (text.byte(at: index), otherText.byte(at: otherIndex))
            guard digit == otherDigit else { return digit < otherDigit ? 0 &- sign : sign }
            index &+= 1
            otherIndex &+= 1
        }
        // The rest of digits ends with one that is not 0.
        if index < Int(end) { return sign }
        return otherIndex < Int(other.end) ? 0 &- sign : 0
    }

    private var sign: Int { start == end ? 0 : isNegative ? -1 : 1 }
}
