import BelfryJSON

/// A JSON value in the plainest form, dictionaries: what documents are compared with.
public enum PlainValue: Equatable, Sendable {
    /// A value that is no object, without white space.
    case leaf([UInt8])
    /// The members by their unescaped keys.
    case object([[UInt8]: PlainValue])

    /// Why a text is no value: some key comes twice in an object.
    public struct Duplicate: Error {}

    /// Reads a whole text, nulls included.
    ///
    /// - Throws: `JSONError`, or `Duplicate`.
    public init(reading text: [UInt8]) throws {
        var reader = JSONReader()
        self = try Self.value(in: text, reader: &reader)
        try reader.finish(in: text.span)
    }

    private static func value(in text: [UInt8], reader: inout JSONReader) throws -> PlainValue {
        let kind = try reader.peekKind(in: text.span)
        let start = reader.index
        switch kind {
        case .object:
            var members: [[UInt8]: PlainValue] = [:]
            try reader.beginObject(in: text.span)
            while try reader.nextMember(in: text.span) {
                let key = reader.key
                guard members[key] == nil else { throw Duplicate() }
                members[key] = try value(in: text, reader: &reader)
            }
            return .object(members)
        case .array:
            try reader.beginArray(in: text.span)
            while try reader.nextElement(in: text.span) {
                _ = try value(in: text, reader: &reader)
            }
        case .string: _ = try reader.readString(in: text.span)
        case .number, .boolean, .null: _ = try reader.skipValue(in: text.span)
        }
        return .leaf(withoutWhitespace(text[start..<reader.index]))
    }

    private static func withoutWhitespace(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var (isInString, isEscaped) = (false, false)
        return text.filter { byte in
            defer {
                if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            }
            return isInString || !" \t\r\n".utf8.contains(byte)
        }
    }

    /// Whether this is null.
    public var isNull: Bool { self == .leaf([UInt8]("null".utf8)) }

    /// The value without members that are null, as a document has it.
    public var withoutNulls: PlainValue {
        switch self {
        case .leaf: self
        case .object(let members):
            .object(members.filter { !$0.value.isNull }.mapValues(\.withoutNulls))
        }
    }

    /// The canonical bytes.
    public var bytes: [UInt8] {
        switch self {
        case .leaf(let bytes):
            return bytes
        case .object(let members):
            let sorted = members.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            let texts = sorted.map { member in
                var text: [UInt8] = []
                JSONWriter.append(string: member.key, to: &text)
                return text + [UInt8(ascii: ":")] + member.value.bytes
            }
            return [UInt8]("{".utf8) + texts.joined(separator: [UInt8(ascii: ",")])
                + [UInt8]("}".utf8)
        }
    }

    /// The value at a path.
    public func value(at keys: ArraySlice<[UInt8]>) -> PlainValue? {
        guard let key = keys.first else { return self }
        guard case .object(let members) = self else { return nil }
        return members[key]?.value(at: keys.dropFirst())
    }

    /// The value with another one at a path; nil takes out what is there.
    public func setting(_ value: PlainValue?, at keys: ArraySlice<[UInt8]>) -> PlainValue {
        guard let key = keys.first else { return value ?? .object([:]) }
        var members: [[UInt8]: PlainValue]
        if case .object(let own) = self {
            members = own
        } else if value == nil {
            return self
        } else {
            members = [:]
        }
        let rest = keys.dropFirst()
        if rest.isEmpty {
            members[key] = value
        } else if let member = members[key] ?? (value == nil ? nil : .object([:])) {
            members[key] = member.setting(value, at: rest)
        }
        return .object(members)
    }

    /// `MergePatch` as RFC 7396 §2 writes it, where null is no value.
    public static func mergePatch(_ target: PlainValue?, _ patch: PlainValue) -> PlainValue? {
        guard case .object(let patches) = patch else { return patch.isNull ? nil : patch }
        var members: [[UInt8]: PlainValue] = [:]
        if case .object(let own) = target { members = own }
        for (key, patch) in patches { members[key] = mergePatch(members[key], patch) }
        return .object(members)
    }
}
