/// The comma lists of HTTP fields (RFC 9110 §5.6.1); lines of one field are one list (§5.3).
enum FieldList {
    /// The elements of all lines without white space around them; empty ones are dropped.
    static func elements(of lines: [[UInt8]]) -> [ArraySlice<UInt8>] {
        lines.flatMap { line in
            line.split(separator: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty }
        }
    }

    /// Whether a list of tokens has this one, which is written in lower case.
    static func contains(_ token: String, in lines: [[UInt8]]) -> Bool {
        elements(of: lines).contains { $0.lazy.map(lowercased).elementsEqual(token.utf8) }
    }

    /// Whether these bytes are a token (RFC 9110 §5.6.2).
    static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(isTokenCharacter)
    }

    static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        default: byte
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = bytes.drop(while: isWhiteSpace)
        let end = start.lastIndex { !isWhiteSpace($0) }.map { $0 + 1 } ?? start.startIndex
        return start[..<end]
    }
}
