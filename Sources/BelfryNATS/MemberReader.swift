import BelfryJSON

/// Reads the JSON of a server; members that are null count as missing.
struct MemberReader {
    /// Reads one member, or skips it.
    typealias Member = (_ name: String, _ reader: inout MemberReader) throws(NATSError) -> Void

    private let json: [UInt8]
    private var reader = JSONReader()

    /// Reads a text that is one object.
    static func read(_ json: [UInt8], member: Member) throws(NATSError) {
        var reader = Self(json: json)
        try reader.object(member)
        try reader.read { json, span throws(JSONError) in try json.finish(in: span) }
    }

    private init(json: [UInt8]) {
        self.json = json
    }

    mutating func object(_ member: Member) throws(NATSError) {
        try read { json, span throws(JSONError) in try json.beginObject(in: span) }
        while try read({ json, span throws(JSONError) in try json.nextMember(in: span) }) {
            let isNull = try read { json, span throws(JSONError) in
                try json.readNullIfPresent(in: span)
            }
            if !isNull { try member(String(decoding: reader.key, as: UTF8.self), &self) }
        }
    }

    mutating func texts() throws(NATSError) -> [String] {
        var texts: [String] = []
        try read { json, span throws(JSONError) in try json.beginArray(in: span) }
        while try read({ json, span throws(JSONError) in try json.nextElement(in: span) }) {
            texts.append(try text())
        }
        return texts
    }

    mutating func text() throws(NATSError) -> String {
        String(
            decoding: try read { json, span throws(JSONError) in try json.readString(in: span) },
            as: UTF8.self)
    }

    /// A text that is one of a few words.
    mutating func word<Word: RawRepresentable<String>>(
        of member: String
    ) throws(NATSError) -> Word {
        guard let word = Word(rawValue: try text()) else { throw .unexpectedMember(member) }
        return word
    }

    mutating func number<Number: FixedWidthInteger>() throws(NATSError) -> Number {
        let number = try read { json, span throws(JSONError) in
            let start = json.index
            guard let number = Number(exactly: try json.readInt(in: span)) else {
                throw .numberOutOfRange(at: start)
            }
            return number
        }
        return number
    }

    mutating func flag() throws(NATSError) -> Bool {
        try read { json, span throws(JSONError) in try json.readBool(in: span) }
    }

    mutating func skip() throws(NATSError) {
        _ = try read { json, span throws(JSONError) in try json.skipValue(in: span) }
    }

    private mutating func read<Result>(
        _ body: (inout JSONReader, Span<UInt8>) throws(JSONError) -> Result
    ) throws(NATSError) -> Result {
        let json = json
        do throws(JSONError) {
            return try body(&reader, json.span)
        } catch {
            throw .malformedJSON(error)
        }
    }
}
