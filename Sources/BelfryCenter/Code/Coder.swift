/// Goes through the fields of a value in one order, in either direction.
///
/// A ``CodeWriter`` writes each known field and returns it; a ``CodeReader`` ignores known fields
/// and returns those that it read. So one initializer of a type defines how it is written and how
/// it is read.
protocol Coder {
    /// Whether fields are read: then nothing is known.
    var isReading: Bool { get }
    /// Whether nothing is left to read: a program of an earlier level wrote fewer fields.
    var isAtEnd: Bool { get }
    /// The version of the code.
    var version: UInt64 { get }
    /// The secret of this process for hash tables; it is never written.
    var seed: HashSeed { get }

    /// A number: in groups of seven bits, the lowest first.
    mutating func word(_ known: UInt64?) throws(CodeError) -> UInt64
    /// Bytes, behind their count.
    mutating func bytes(_ known: [UInt8]?) throws(CodeError) -> [UInt8]
    /// The texts of a notification, which lie in one array: they are not copied one by one.
    mutating func content(
        _ known: Notification.Content?
    ) throws(CodeError) -> Notification.Content
    /// How many elements follow.
    mutating func count(_ known: Int?) throws(CodeError) -> Int
}

/// A type whose stored properties a ``Coder`` can go through.
protocol Coded {
    /// Reads a value, or writes the known one and becomes its copy.
    ///
    /// - Throws: nothing while it writes.
    init(_ known: Self?, by coder: inout some Coder) throws(CodeError)

    /// Reads or writes a list of values in the same way.
    static func list(_ known: [Self]?, by coder: inout some Coder) throws(CodeError) -> [Self]
}

/// A type with cases: each keeps its number forever, even after the case is removed.
protocol CodedCases: Coded {
    func write(by coder: inout some Coder) throws(CodeError)

    static func read(case number: UInt64, by coder: inout some Coder) throws(CodeError) -> Self
}

extension CodedCases {
    init(_ known: Self?, by coder: inout some Coder) throws(CodeError) {
        if let known {
            try known.write(by: &coder)
            self = known
        } else {
            let number = try coder.word(nil)
            self = try Self.read(case: number, by: &coder)
        }
    }
}

/// The reason why bytes are not the code of a value.
public enum CodeError: Error, Equatable {
    /// The bytes end before the value does.
    case ended
    /// There are more bytes than the value has.
    case goesOn
    /// A number is out of its range, or a text is invalid.
    case malformed
    /// A newer program has written it: this one does not know the version.
    case unknownVersion(UInt64)
    /// A newer program has written it: this one does not know this kind of command.
    case unknownKind(UInt64)

    /// Whether the bytes are complete, and this program is too old for them.
    public var isOfNewerProgram: Bool {
        switch self {
        case .ended, .goesOn, .malformed: false
        case .unknownVersion, .unknownKind: true
        }
    }
}

extension Coder {
    /// Goes through the next field.
    @inline(__always)
    mutating func callAsFunction<Value: Coded>(_ known: Value?) throws(CodeError) -> Value {
        try Value(known, by: &self)
    }

    /// Goes through the next field, which may be nil.
    ///
    /// The compiler picks this overload for a field of optional type. `known?.field` does not
    /// distinguish a nil field from an unknown one, and need not, as only a writer reads it.
    @inline(__always)
    mutating func callAsFunction<Value: Coded>(_ known: Value?) throws(CodeError) -> Value? {
        try Value?(.some(known), by: &self)
    }

    /// Reads the next field.
    mutating func next<Value: Coded>() throws(CodeError) -> Value { try Value(nil, by: &self) }

    /// Writes the number of a case and the parts of the case.
    mutating func write<each Part: Coded>(
        case number: UInt64, _ part: repeat each Part
    ) throws(CodeError) {
        _ = try word(number)
        repeat _ = try (each Part)(each part, by: &self)
    }

    /// Writes the usual numbers of parts: the compiler does not specialize the variadic form.
    @inline(__always)
    mutating func write<First: Coded>(case number: UInt64, _ first: First) throws(CodeError) {
        _ = try word(number)
        _ = try First(first, by: &self)
    }

    @inline(__always)
    mutating func write<First: Coded, Second: Coded>(
        case number: UInt64, _ first: First, _ second: Second
    ) throws(CodeError) {
        try write(case: number, first)
        _ = try Second(second, by: &self)
    }

    /// Goes through a table in the order of its keys: a hash table has another in each process.
    mutating func table<Key: Coded & Hashable, Value: Coded>(
        _ known: [Key: Value]?, by isBefore: (Key, Key) -> Bool
    ) throws(CodeError) -> [Key: Value] {
        let keys: [Key] = try self(known.map { $0.keys.sorted(by: isBefore) })
        var table = known ?? Dictionary(minimumCapacity: keys.count)
        for key in keys { table[key] = try Value(known?[key], by: &self) }  // Bound: code
        return table
    }

    /// Goes through a table whose keys are texts.
    mutating func table<Value: Coded>(
        _ known: [[UInt8]: Value]?
    ) throws(CodeError) -> [[UInt8]: Value] {
        try table(known) { $0.lexicographicallyPrecedes($1) }
    }

    /// Goes through a table whose keys are numbers.
    mutating func table<Key: Coded & Hashable & Comparable, Value: Coded>(
        _ known: [Key: Value]?
    ) throws(CodeError) -> [Key: Value] {
        try table(known, by: <)
    }
}

// MARK: - What everything is made of

extension Coded {
    static func list(_ known: [Self]?, by coder: inout some Coder) throws(CodeError) -> [Self] {
        let count = try coder.count(known?.count)
        if let known {
            for element in known { _ = try Self(element, by: &coder) }  // Bound: code
            return known
        }
        var elements: [Self] = []
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try coder.next()) }  // Bound: code
        return elements
    }
}

extension Array: Coded where Element: Coded {
    init(_ known: [Element]?, by coder: inout some Coder) throws(CodeError) {
        self = try Element.list(known, by: &coder)
    }
}

extension Optional: Coded where Wrapped: Coded {
    init(_ known: Wrapped??, by coder: inout some Coder) throws(CodeError) {
        let isThere: Bool = try coder(known.map { $0 != nil })
        self = isThere ? try Wrapped(known ?? nil, by: &coder) : nil
    }
}

extension UInt64: Coded {
    init(_ known: UInt64?, by coder: inout some Coder) throws(CodeError) {
        self = try coder.word(known)
    }
}

extension UInt8: Coded {
    init(_ known: UInt8?, by coder: inout some Coder) throws(CodeError) {
        self = try coder.narrow(known)
    }

    static func list(_ known: [UInt8]?, by coder: inout some Coder) throws(CodeError) -> [UInt8] {
        try coder.bytes(known)
    }
}

extension UInt16: Coded {
    init(_ known: UInt16?, by coder: inout some Coder) throws(CodeError) {
        self = try coder.narrow(known)
    }
}

extension UInt32: Coded {
    init(_ known: UInt32?, by coder: inout some Coder) throws(CodeError) {
        self = try coder.narrow(known)
    }
}

extension Bool: Coded {
    init(_ known: Bool?, by coder: inout some Coder) throws(CodeError) {
        switch try coder.word(known.map { $0 ? 1 : 0 }) {
        case 0: self = false
        case 1: self = true
        default: throw .malformed
        }
    }
}

/// A signed number is written as twice itself, a negative one as an odd number: small is short.
extension Int64: Coded {
    init(_ known: Int64?, by coder: inout some Coder) throws(CodeError) {
        let word = try coder.word(known.map { UInt64(bitPattern: $0 << 1 ^ $0 >> 63) })
        self = Int64(bitPattern: word >> 1) ^ -Int64(bitPattern: word & 1)
    }
}

extension Int32: Coded {
    init(_ known: Int32?, by coder: inout some Coder) throws(CodeError) {
        guard let number = Int32(exactly: try coder(known.map { Int64($0) })) else {
            throw .malformed
        }
        self = number
    }
}

extension Int: Coded {
    init(_ known: Int?, by coder: inout some Coder) throws(CodeError) {
        self = Int(try coder(known.map { Int64($0) }))
    }
}

extension String: Coded {
    init(_ known: String?, by coder: inout some Coder) throws(CodeError) {
        let text: [UInt8] = try coder(known.map { Array($0.utf8) })
        self.init(decoding: text, as: UTF8.self)
    }
}

extension Duration: Coded {
    init(_ known: Duration?, by coder: inout some Coder) throws(CodeError) {
        self.init(
            secondsComponent: try coder(known?.components.seconds),
            attosecondsComponent: try coder(known?.components.attoseconds))
    }
}

extension Coder {
    fileprivate mutating func narrow<Number: FixedWidthInteger>(
        _ known: Number?
    ) throws(CodeError) -> Number {
        guard let number = Number(exactly: try word(known.map { UInt64($0) })) else {
            throw .malformed
        }
        return number
    }
}

extension Coded where Self: RawRepresentable, RawValue: Coded {
    init(_ known: Self?, by coder: inout some Coder) throws(CodeError) {
        guard let value = Self(rawValue: try coder(known?.rawValue)) else { throw .malformed }
        self = value
    }
}
