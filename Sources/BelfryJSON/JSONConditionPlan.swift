import BelfryBytes

/// A condition as it is evaluated: flat lists, so that nothing is counted or copied on the way.
struct JSONConditionPlan: Sendable {
    /// The ways in which a value is compared with operands.
    enum Relation: String, Sendable {
        /// It is equal to one of them.
        case equal
        case above
        case atLeast
        case below
        case atMost
        case prefix
        case suffix
        case contains
        case present
        case absent
    }

    /// A comparison with operands.
    struct Test: Sendable {
        let relation: Relation
        private let firstOperand: UInt16
        private let endOfOperands: UInt16
        /// The place of the fallbacks of a string that is searched.
        private let firstFallback: UInt16

        init(_ relation: Relation, _ operands: Range<Int>, fallbackStart: Int = 0) {
            self.relation = relation
            firstOperand = UInt16(operands.lowerBound)
            endOfOperands = UInt16(operands.upperBound)
            firstFallback = UInt16(fallbackStart)
        }

        var operands: Range<Int> { Int(firstOperand)..<Int(endOfOperands) }
        var operand: Int { Int(firstOperand) }
        var fallbackStart: Int { Int(firstFallback) }
    }

    /// The tests of the value at a key path.
    struct Term: Sendable {
        private let firstKey: UInt16
        private let endOfKeys: UInt16
        private let firstTest: UInt16
        private let startOfDenied: UInt16
        private let endOfTests: UInt16
        /// The number of the first term of the next alternative.
        fileprivate var next: UInt16 = 0

        /// The tests that must hold, and then those of `not`, of which one must not hold.
        init(keys: Range<Int>, tests: Range<Int>, firstDenied: Int) {
            firstKey = UInt16(keys.lowerBound)
            endOfKeys = UInt16(keys.upperBound)
            firstTest = UInt16(tests.lowerBound)
            startOfDenied = UInt16(firstDenied)
            endOfTests = UInt16(tests.upperBound)
        }

        var keys: Range<Int> { Int(firstKey)..<Int(endOfKeys) }
        var tests: Range<Int> { Int(firstTest)..<Int(endOfTests) }
        /// The first test of `not`; the end of the tests where there is none.
        var firstDenied: Int { Int(startOfDenied) }
    }

    var terms: [Term] = []
    var keys: [JSONMembers.Key] = []
    var tests: [Test] = []
    var operands: [JSONScalar] = []
    /// The texts of keys and operands.
    var bytes: [UInt8] = []
    /// For each place of a searched string how much of it still matches when the next byte differs.
    var fallbacks: [UInt16] = []

    /// The bytes of its blocks.
    var footprint: Int {
        Self.block(of: terms) + Self.block(of: keys) + Self.block(of: tests)
            + Self.block(of: operands) + Self.block(of: bytes) + Self.block(of: fallbacks)
    }

    /// The bytes of an array's block with its header, and the allocator's part of it.
    static func block<Element>(of array: [Element]) -> Int {
        guard array.capacity > 0 else { return 0 }
        return (32 + array.capacity * MemoryLayout<Element>.stride + 8 + 15) & ~15
    }

    /// Ends an alternative whose terms are the last ones, from `first` on.
    mutating func endAlternative(from first: Int) {
        for index in first..<terms.count { terms[index].next = UInt16(terms.count) }
    }

    /// Whether all terms of an alternative hold.
    ///
    /// - Parameter work: grows by the bytes of values that were looked through.
    func isTrue(
        for members: borrowing JSONMembers, in text: Span<UInt8>, work: inout Int
    ) -> Bool {
        var index = 0
        while index < terms.count {
            let term = terms[index]
            index &+= 1
            if holds(term, for: members, in: text, &work) {
                if index == Int(term.next) { return true }
            } else {
                index = Int(term.next)
            }
        }
        return false
    }

    @inline(__always)
    private func holds(
        _ term: Term, for members: borrowing JSONMembers, in text: Span<UInt8>, _ work: inout Int
    ) -> Bool {
        guard let index = members.value(at: term.keys, of: self, in: text) else {
            return holds(term, ofOdd: .null, in: text, &work)
        }
        let value = JSONScalar(at: index, in: text)
        work &+= value.range.count
        if value.kind == .escapedString { return holds(term, ofOdd: value, in: text, &work) }
        return holds(term, of: value, in: text, &work)
    }

    /// Whether a term holds of no value, or of a string with escapes.
    @inline(never)
    private func holds(
        _ term: Term, ofOdd value: JSONScalar, in text: Span<UInt8>, _ work: inout Int
    ) -> Bool {
        guard value.kind == .escapedString else { return holds(term, of: value, in: text, &work) }
        var unescaped: [UInt8] = []
        let plain = value.plain(in: text, into: &unescaped)
        work &+= Self.workOfByte &* value.range.count
        return holds(term, of: plain, in: unescaped.span, &work)
    }

    /// How many bytes that are skipped cost as much as one that is copied, or searched.
    private static let workOfByte = 8

    @inline(__always)
    private func holds(
        _ term: Term, of value: JSONScalar, in text: Span<UInt8>, _ work: inout Int
    ) -> Bool {
        for index in term.tests {
            let holds = holds(tests[index], of: value, in: text, &work)
            if index >= term.firstDenied {
                if !holds { return true }
            } else if !holds {
                return false
            }
        }
        return term.firstDenied == term.tests.upperBound
    }

    @inline(__always)
    private func holds(
        _ test: Test, of value: JSONScalar, in text: Span<UInt8>, _ work: inout Int
    ) -> Bool {
        if test.relation == .equal { return isOne(of: test.operands, value, in: text) }
        return fulfils(test, value, in: text, &work)
    }

    @inline(never)
    private func fulfils(
        _ test: Test, _ value: JSONScalar, in text: Span<UInt8>, _ work: inout Int
    ) -> Bool {
        switch test.relation {
        case .equal: isOne(of: test.operands, value, in: text)
        case .above: order(test, of: value, in: text).map { $0 > 0 } ?? false
        case .atLeast: order(test, of: value, in: text).map { $0 >= 0 } ?? false
        case .below: order(test, of: value, in: text).map { $0 < 0 } ?? false
        case .atMost: order(test, of: value, in: text).map { $0 <= 0 } ?? false
        case .prefix: hasEnd(value, in: text, test, isPrefix: true)
        case .suffix: hasEnd(value, in: text, test, isPrefix: false)
        case .contains: contains(value, in: text, test, &work)
        case .present: value.kind != .null
        case .absent: value.kind == .null
        }
    }

    @inline(__always)
    private func isOne(
        of range: Range<Int>, _ value: JSONScalar, in text: Span<UInt8>
    ) -> Bool {
        for index in range
        where value.isEqual(in: text, to: operands[index], in: bytes.span) {
            return true
        }
        return false
    }

    /// The order of a number and the operand of a test.
    private func order(_ test: Test, of value: JSONScalar, in text: Span<UInt8>) -> Int? {
        guard value.kind == .number else { return nil }
        return value.order(in: text, with: operands[test.operand], in: bytes.span)
    }

    private func hasEnd(
        _ value: JSONScalar, in text: Span<UInt8>, _ test: Test, isPrefix: Bool
    ) -> Bool {
        guard value.kind == .string else { return false }
        let (range, wanted) = (value.range, operands[test.operand].range)
        guard wanted.count <= range.count else { return false }
        let start = isPrefix ? range.lowerBound : range.upperBound - wanted.count
        return bytesAreEqual(
            text.extracting(start..<start + wanted.count), bytes.span.extracting(wanted))
    }

    private func contains(
        _ value: JSONScalar, in text: Span<UInt8>, _ test: Test, _ work: inout Int
    ) -> Bool {
        switch value.kind {
        case .string:
            work &+= Self.workOfByte &* value.range.count
            let operand = operands[test.operand]
            guard operand.kind == .string else { return false }
            return contains(
                text.extracting(value.range), bytes.span.extracting(operand.range),
                fallbackStart: test.fallbackStart)
        case .array:
            do throws(JSONError) {
                return try hasElement(value.range.lowerBound, in: text, test, &work)
            } catch {
                return false
            }
        case .escapedString, .number, .trueLiteral, .falseLiteral, .null, .other: return false
        }
    }

    /// Whether a text contains another one (Knuth, Morris and Pratt).
    ///
    /// The time does not grow with the repetitions of a part of it.
    private func contains(
        _ text: Span<UInt8>, _ wanted: Span<UInt8>, fallbackStart: Int
    ) -> Bool {
        if wanted.isEmpty { return true }
        let fallbacks = fallbacks.span
        var length = 0
        for index in text.indices {
            while length > 0, wanted[length] != text[index] {
                length = Int(fallbacks[fallbackStart + length - 1])
            }
            if wanted[length] == text[index] { length += 1 }
            if length == wanted.count { return true }
        }
        return false
    }

    /// The fallbacks of the string at a place of `bytes`, which is searched.
    func fallbacks(of range: Range<Int>) -> [UInt16] {
        let wanted = bytes.span.extracting(range)
        var fallbacks = [UInt16](repeating: 0, count: wanted.count)
        var length = 0
        for place in wanted.indices.dropFirst() {
            while length > 0, wanted[length] != wanted[place] {
                length = Int(fallbacks[length - 1])
            }
            if wanted[length] == wanted[place] { length += 1 }
            fallbacks[place] = UInt16(truncatingIfNeeded: length)
        }
        return fallbacks
    }

    /// Whether the array that opens at `index` has an element that is equal to the operand.
    private func hasElement(
        _ index: Int, in text: Span<UInt8>, _ test: Test, _ work: inout Int
    ) throws(JSONError) -> Bool {
        var scanner = JSONScanner(depthLimit: JSONNesting.greatestLimit, startingAt: index + 1)
        defer { work &+= Self.workOfByte &* (scanner.index - index) }
        var unescaped: [UInt8] = []
        while try scanner.nextSignificantByte(in: text) != .closeBracket {
            let range = try scanner.skipValue(in: text)
            let element = JSONScalar(at: range.lowerBound, in: text)
            if element.kind == .escapedString {
                let plain = element.plain(in: text, into: &unescaped)
                if isOne(of: test.operands, plain, in: unescaped.span) { return true }
            } else if isOne(of: test.operands, element, in: text) {
                return true
            }
            _ = try scanner.skipByte(.comma, in: text)
        }
        return false
    }
}
