/// One extension that a client offers, with its parameters (RFC 6455 §9.1).
struct ExtensionOffer: Equatable, Sendable {
    /// A parameter; its value is without the quotation marks it may have had.
    struct Parameter: Equatable, Sendable {
        var name: [UInt8]
        var value: [UInt8]?
    }

    var name: [UInt8]
    var parameters: [Parameter] = []

    /// The offers of all lines in their order, or `nil` when one of them breaks the grammar.
    static func parse(_ lines: [[UInt8]]) -> [ExtensionOffer]? {
        var offers: [ExtensionOffer] = []
        for line in lines {
            var scanner = Scanner(rest: line[...])
            while !scanner.isAtEnd {
                if scanner.skip(",") { continue }
                guard let offer = scanner.offer() else { return nil }
                guard scanner.isAtEnd || scanner.skip(",") else { return nil }
                offers.append(offer)
            }
        }
        return offers
    }

    /// Reads the grammar of §9.1; white space is allowed between any two of its parts.
    private struct Scanner {
        var rest: ArraySlice<UInt8>

        var isAtEnd: Bool {
            mutating get {
                rest = rest.drop(while: FieldList.isWhiteSpace)
                return rest.isEmpty
            }
        }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard !isAtEnd, rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        mutating func offer() -> ExtensionOffer? {
            guard let name = token() else { return nil }
            var offer = ExtensionOffer(name: name)
            while skip(";") {
                guard let name = token() else { return nil }
                var value: [UInt8]?
                if skip("=") {
                    value = skip("\"") ? quoted() : token()
                    guard value != nil else { return nil }
                }
                offer.parameters.append(Parameter(name: name, value: value))
            }
            return offer
        }

        private mutating func token() -> [UInt8]? {
            guard !isAtEnd else { return nil }
            let token = rest.prefix(while: FieldList.isTokenCharacter)
            rest = rest.dropFirst(token.count)
            return token.isEmpty ? nil : Array(token)
        }

        /// The rest of a quoted string, whose text must be a token (§9.1).
        private mutating func quoted() -> [UInt8]? {
            var value: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "\"") { return FieldList.isToken(value[...]) ? value : nil }
                if byte == UInt8(ascii: "\\") {
                    guard let escaped = rest.popFirst() else { return nil }
                    value.append(escaped)
                } else {
                    value.append(byte)
                }
            }
            return nil
        }
    }
}
