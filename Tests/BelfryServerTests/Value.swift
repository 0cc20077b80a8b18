import BelfryJSON

/// A JSON value, to look into what the broker answers.
enum Value: Equatable {
    case object([String: Value])
    case array([Value])
    case text(String)
    case number(Double)
    case boolean(Bool)
    case null

    /// Reads the one value of a text.
    init(_ bytes: [UInt8]) throws(JSONError) {
        var json = JSONReader(depthLimit: 128)
        self = try Self.read(&json, in: bytes.span)
        try json.finish(in: bytes.span)
    }

    private static func read(
        _ json: inout JSONReader, in bytes: Span<UInt8>
    ) throws(JSONError) -> Value {
        switch try json.peekKind(in: bytes) {
        case .object:
            var members: [String: Value] = [:]
            try json.beginObject(in: bytes)
            while try json.nextMember(in: bytes) {
                let key = String(decoding: json.key, as: UTF8.self)
                members[key] = try read(&json, in: bytes)
            }
            return .object(members)
        case .array:
            var elements: [Value] = []
            try json.beginArray(in: bytes)
            while try json.nextElement(in: bytes) { elements.append(try read(&json, in: bytes)) }
            return .array(elements)
        case .string: return .text(String(decoding: try json.readString(in: bytes), as: UTF8.self))
        case .number: return .number(try json.readDouble(in: bytes))
        case .boolean: return .boolean(try json.readBool(in: bytes))
        case .null:
            _ = try json.readNullIfPresent(in: bytes)
            return .null
        }
    }

    /// The member of this name; `.null` when there is none.
    subscript(key: String) -> Value {
        if case .object(let members) = self { members[key] ?? .null } else { .null }
    }

    /// The element at this place; `.null` when there is none.
    subscript(place: Int) -> Value {
        if case .array(let elements) = self, elements.indices.contains(place) {
            elements[place]
        } else {
            .null
        }
    }

    /// The elements of an array.
    var elements: [Value] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The names of the members of an object.
    var keys: Set<String> {
        if case .object(let members) = self { Set(members.keys) } else { [] }
    }

    /// The text of a string.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// A number without fraction.
    var int: Int? {
        if case .number(let number) = self { Int(exactly: number) } else { nil }
    }

    /// Whether the object has this member.
    func has(_ key: String) -> Bool { keys.contains(key) }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .number(Double(value)) }
    init(booleanLiteral value: Bool) { self = .boolean(value) }
    init(nilLiteral: ()) { self = .null }
    init(arrayLiteral elements: Value...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, Value)...) {
        self = .object(Dictionary(uniqueKeysWithValues: elements))
    }
}
