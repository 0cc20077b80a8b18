internal import BelfryCenter

/// A member of an object, or a parameter of a query, as the source of a value.
///
/// Fields that have both forms are read from this, in one place. A value at fault is nil, and its
/// fault is collected. Only a member of an object throws, where the text is not JSON.
protocol FieldSource {
    var limits: WireLimits { get }

    /// Adds a fault of the member or the parameter that is read.
    mutating func addFault(_ detail: String)

    mutating func string(in bytes: Span<UInt8>) throws(Problem) -> [UInt8]?
    mutating func boolean(in bytes: Span<UInt8>) throws(Problem) -> Bool?
    mutating func integer(
        in range: ClosedRange<Int>, of bytes: Span<UInt8>
    ) throws(Problem) -> Int?
    /// Reads a duration in seconds, in nanoseconds.
    mutating func seconds(_ rule: SecondsRule, in bytes: Span<UInt8>) throws(Problem) -> Int64?
    /// Reads how long a repeating timer lasts; null is for ever.
    mutating func timerLease(in bytes: Span<UInt8>) throws(Problem) -> TimerFields.Lease?
    mutating func coalescing(in bytes: Span<UInt8>) throws(Problem) -> Coalescing?
    /// Reads the names of modes; one that comes twice counts once.
    mutating func modes(in bytes: Span<UInt8>) throws(Problem) -> [[UInt8]]?
    /// Reads the asker's default answer, which is any JSON.
    mutating func fallback(in bytes: Span<UInt8>) throws(Problem) -> [UInt8]?
    /// Reads the `present` of an ask, in one line.
    mutating func present(in bytes: Span<UInt8>) throws(Problem) -> [UInt8]?
}

// The values that are strings with a rule.
extension FieldSource {
    /// Reads a name or an object.
    mutating func name(in bytes: Span<UInt8>) throws(Problem) -> [UInt8]? {
        guard let text = try string(in: bytes) else { return nil }
        guard let fault = TextRule.faultOfName(text.span, limits: limits) else { return text }
        addFault(fault)
        return nil
    }

    mutating func selector(in bytes: Span<UInt8>) throws(Problem) -> [UInt8]? {
        guard let text = try string(in: bytes) else { return nil }
        guard let fault = TextRule.faultOfSelector(text, limits: limits) else { return text }
        addFault(fault)
        return nil
    }

    mutating func idempotencyKey(in bytes: Span<UInt8>) throws(Problem) -> [UInt8]? {
        guard let text = try string(in: bytes) else { return nil }
        guard let fault = TextRule.faultOfKey(text, limits: limits) else { return text }
        addFault(fault)
        return nil
    }

    mutating func word<Word: OptionWord>(in bytes: Span<UInt8>) throws(Problem) -> Word? {
        try value(Word.detail, in: bytes) { Word(text: $0) }
    }

    /// Reads a time as RFC 3339 has it, in milliseconds since 1970.
    mutating func time(in bytes: Span<UInt8>) throws(Problem) -> Int64? {
        try value(TimeText.detail, in: bytes) { TimeText.milliseconds(of: $0.span) }
    }

    mutating func notificationID(in bytes: Span<UInt8>) throws(Problem) -> NotificationID? {
        try value("must be the id of a notification", in: bytes) { NotificationID(text: $0.span) }
    }

    /// Reads the number of an observer or a client, which has no secret.
    mutating func serial(
        _ detail: String, in bytes: Span<UInt8>, parse: (Span<UInt8>) -> IdentifierText?
    ) throws(Problem) -> UInt64? {
        try value(detail, in: bytes) { text in
            parse(text.span).flatMap { $0.secret == nil ? $0.number : nil }
        }
    }

    /// Reads an observer, a client or a mode lease with its secret.
    mutating func secret(
        _ detail: String, in bytes: Span<UInt8>, parse: (Span<UInt8>) -> IdentifierText?
    ) throws(Problem) -> IdentifierText? {
        try value(detail, in: bytes) { text in
            parse(text.span).flatMap { $0.secret == nil ? nil : $0 }
        }
    }

    /// Reads the value that a string has; `detail` is the fault of one without.
    mutating func value<Value>(
        _ detail: String, in bytes: Span<UInt8>, parse: ([UInt8]) -> Value?
    ) throws(Problem) -> Value? {
        guard let text = try string(in: bytes) else { return nil }
        let value = parse(text)
        if value == nil { addFault(detail) }
        return value
    }
}
