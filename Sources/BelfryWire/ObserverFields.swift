internal import BelfryJSON

/// The fields of an observer that is registered.
struct ObserverFields {
    var observer = ObserverRequest()

    /// The greatest integer that every JSON reader keeps, 2^53 - 1 (RFC 8259 §6).
    static let greatestSequence = 9_007_199_254_740_991

    static let sessionOrdinal = 10
    /// The members over JSON-RPC, where the connection is the client.
    static let callKeys = JSONKeyTable(names)
    /// The members over HTTP.
    static let keys = JSONKeyTable(names + ["session"])
    private static let names = [
        "name", "object", "selector", "since", "suspensionBehavior", "holdLimit", "lease",
        "acknowledge", "minInterval", "lifetime",
    ]

    /// Reads or skips the value of one member.
    mutating func read(
        _ ordinal: Int, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch ordinal {
        case 0: try readName(&fields, in: bytes)
        case 1: observer.object = try fields.optionalName("object", in: bytes)
        case 2: try readSelector(&fields, in: bytes)
        case 3:
            let range = 0...Self.greatestSequence
            observer.since = try fields.optionalInteger("since", in: range, of: bytes)
                .map { UInt64($0) }
        case 4...6: try fields.refuse(Self.names[ordinal], in: bytes)
        case 7:
            if try fields.boolean("acknowledge", in: bytes) == true {
                fields.addFault("acknowledge", FieldReader.laterDetail)
            }
        case 8: _ = try fields.number("minInterval", upTo: 0, in: bytes)
        case 9:
            let lifetime = try fields.string("lifetime", in: bytes)
            if let lifetime, !lifetime.elementsEqual("connection".utf8) {
                fields.addFault("lifetime", "must be connection in this version")
            }
        default: observer.session = try fields.string("session", in: bytes)
        }
    }

    private mutating func readName(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        observer.name = try fields.optionalName("name", in: bytes)
        if let name = observer.name, TextRule.isReserved(name) {
            fields.faults.addReservedName(fields.place([UInt8]("name".utf8)))
        }
    }

    private mutating func readSelector(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let selector = try fields.optionalString("selector", in: bytes) else { return }
        observer.selector = selector
        if let fault = TextRule.faultOfSelector(selector, limits: fields.limits) {
            fields.addFault("selector", fault)
        }
    }
}

extension FieldReader {
    /// Reads the members of an observer.
    mutating func readObserver(
        in bytes: Span<UInt8>, allowsSession: Bool
    ) throws(Problem) -> ObserverRequest {
        var observer = ObserverFields()
        let keys = allowsSession ? ObserverFields.keys : ObserverFields.callKeys
        let isObject = try readObject(keys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            try observer.read(ordinal, &fields, in: bytes)
        }
        if isObject, allowsSession, !has(ObserverFields.sessionOrdinal) {
            addFault("session", "is required: mailboxes are not supported by this version")
        }
        return observer.observer
    }
}
