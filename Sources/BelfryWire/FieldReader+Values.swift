internal import BelfryCenter
internal import BelfryJSON

// The values of members; one that is at fault is nil, and the fault is collected.
extension FieldReader {
    /// Reads a string; null is a fault.
    mutating func string(_ key: String, in bytes: Span<UInt8>) throws(Problem) -> [UInt8]? {
        guard try expect(.string, key, in: bytes) else { return nil }
        do throws(JSONError) {
            return try json.readString(in: bytes)
        } catch .loneSurrogate {
            addFault(key, "must not contain half a surrogate pair")
            return nil
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    /// Reads a string or null.
    mutating func optionalString(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> [UInt8]? {
        if try skipNull(in: bytes) { return nil }
        return try string(key, in: bytes)
    }

    /// Reads a name or an object; null is a fault.
    mutating func name(_ key: String, in bytes: Span<UInt8>) throws(Problem) -> [UInt8]? {
        guard let text = try string(key, in: bytes) else { return nil }
        if let fault = TextRule.faultOfName(text.span, limits: limits) {
            addFault(key, fault)
            return nil
        }
        return text
    }

    /// Reads a name, an object or null.
    mutating func optionalName(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> [UInt8]? {
        if try skipNull(in: bytes) { return nil }
        return try name(key, in: bytes)
    }

    /// Reads an integer of a range, or null.
    mutating func optionalInteger(
        _ key: String, in range: ClosedRange<Int>, of bytes: Span<UInt8>
    ) throws(Problem) -> Int? {
        if try skipNull(in: bytes) { return nil }
        guard try expect(.number, key, in: bytes) else { return nil }
        do throws(JSONError) {
            // 80.0 and 8e1 are integers too (JSON Schema 2020-12 §4.2.3).
            let value = Int(exactly: try json.readDouble(in: bytes))
            if let value, range.contains(value) { return value }
        } catch .numberOutOfRange {
            // Told below like a number that is outside of the range.
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
        addFault(key, "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// Reads a number from zero to a limit, or null.
    mutating func optionalNumber(
        _ key: String, upTo limit: Double, in bytes: Span<UInt8>
    ) throws(Problem) -> Double? {
        if try skipNull(in: bytes) { return nil }
        return try number(key, upTo: limit, in: bytes)
    }

    /// Reads a number from zero to a limit; null is a fault.
    mutating func number(
        _ key: String, upTo limit: Double, in bytes: Span<UInt8>
    ) throws(Problem) -> Double? {
        guard try expect(.number, key, in: bytes) else { return nil }
        do throws(JSONError) {
            let value = try json.readDouble(in: bytes)
            if value >= 0, value <= limit { return value }
        } catch .numberOutOfRange {
            // Told below like a number that is outside of the range.
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
        let expected = limit == 0 ? "0" : "a number from 0 to \(Int(limit))"
        addFault(key, "must be \(expected)")
        return nil
    }

    /// Reads true or false.
    mutating func boolean(_ key: String, in bytes: Span<UInt8>) throws(Problem) -> Bool? {
        guard try expect(.boolean, key, in: bytes) else { return nil }
        do throws(JSONError) {
            return try json.readBool(in: bytes)
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    /// Reads true, false or null.
    mutating func optionalBoolean(_ key: String, in bytes: Span<UInt8>) throws(Problem) -> Bool? {
        try skipNull(in: bytes) ? nil : boolean(key, in: bytes)
    }

    /// Reads a duration in seconds, in nanoseconds.
    mutating func seconds(
        _ key: String, _ rule: SecondsRule, in bytes: Span<UInt8>
    ) throws(Problem) -> Int64? {
        guard try expect(.number, key, in: bytes) else { return nil }
        var nanoseconds: Int64?
        do throws(JSONError) {
            nanoseconds = rule.nanoseconds(try json.readDouble(in: bytes))
        } catch .numberOutOfRange {
            // Told below like a number that is outside of the range.
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
        if nanoseconds == nil { addFault(key, rule.detail) }
        return nanoseconds
    }

    /// Reads a duration in seconds, in nanoseconds, or null.
    mutating func optionalSeconds(
        _ key: String, _ rule: SecondsRule, in bytes: Span<UInt8>
    ) throws(Problem) -> Int64? {
        try skipNull(in: bytes) ? nil : seconds(key, rule, in: bytes)
    }

    /// Reads a time as RFC 3339 has it, in milliseconds since 1970, or null.
    mutating func optionalTime(_ key: String, in bytes: Span<UInt8>) throws(Problem) -> Int64? {
        guard let text = try optionalString(key, in: bytes) else { return nil }
        let time = TimeText.milliseconds(of: text.span)
        if time == nil { addFault(key, TimeText.detail) }
        return time
    }

    /// Reads how long a repeating timer lasts; null is for ever.
    mutating func timerLease(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> TimerFields.Lease? {
        if try skipNull(in: bytes) { return .forever }
        return try seconds(key, .timerLease, in: bytes).map { .nanoseconds($0) }
    }

    /// Reads the option `coalesce`: `none`, an array of `name` and `sender`, or null.
    mutating func optionalCoalescing(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> Coalescing? {
        switch try kind(in: bytes) {
        case .null:
            _ = try skip(in: bytes)
            return nil
        case .string:
            guard let text = try string(key, in: bytes) else { return nil }
            if text.elementsEqual("none".utf8) { return Coalescing.none }
            addFault(key, Coalescing.detail)
            return nil
        case .array:
            var coalescing = Coalescing.none
            _ = try readArray(in: bytes) { (fields, bytes) throws(Problem) in
                guard let word = try fields.string(key, in: bytes) else { return }
                if let part = Coalescing(word: word) {
                    coalescing.formUnion(part)
                } else {
                    fields.addFault(key, Coalescing.wordDetail)
                }
            }
            return coalescing
        case .object, .number, .boolean:
            _ = try skip(in: bytes)
            addFault(key, Coalescing.detail)
            return nil
        }
    }

    /// Reads an array of mode names, or null; one that comes twice counts once.
    mutating func optionalModes(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> [[UInt8]]? {
        if try skipNull(in: bytes) { return nil }
        guard try expect(.array, key, in: bytes) else { return nil }
        var modes: [[UInt8]] = []
        var seenCount = 0
        let limit = limits.modeCountLimit
        let count = try readArray(in: bytes) { (fields, bytes) throws(Problem) in
            seenCount += 1
            if seenCount > limit {
                _ = try fields.skip(in: bytes)
            } else if let mode = try fields.name(key, in: bytes) {
                PostOptionFields.add(mode, to: &modes)
            }
        }
        if count < 1 || count > limit {
            addFault(key, "must have 1 to \(limit) names, not \(count)")
        }
        return modes
    }

    /// Reads an observer, a client or a mode lease with its secret; null is a fault.
    mutating func secret(
        _ key: String, _ detail: String, in bytes: Span<UInt8>,
        parse: (Span<UInt8>) -> IdentifierText?
    ) throws(Problem) -> IdentifierText? {
        guard let text = try string(key, in: bytes) else { return nil }
        let identifier = parse(text.span)
        if identifier?.secret == nil { addFault(key, detail) }
        return identifier
    }

    /// Reads an array of selectors, each of which comes once, or null.
    ///
    /// Faulty elements are left out; the result is empty where there is no array.
    mutating func optionalSelectors(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> [[UInt8]]? {
        if try skipNull(in: bytes) { return nil }
        guard try expect(.array, key, in: bytes) else { return [] }
        var selectors: [[UInt8]] = []
        var seenCount = 0
        let limit = limits.selectorCountLimit
        let count = try readArray(in: bytes) { (fields, bytes) throws(Problem) in
            seenCount += 1
            if seenCount > limit {
                _ = try fields.skip(in: bytes)
            } else if let selector = try fields.selector(key, in: bytes) {
                if selectors.contains(selector) {
                    fields.addFault(key, "must not be repeated")
                } else {
                    selectors.append(selector)
                }
            }
        }
        if count > limit { addFault(key, "must have at most \(limit) selectors, not \(count)") }
        return selectors
    }

    /// Reads a selector; null is a fault.
    mutating func selector(_ key: String, in bytes: Span<UInt8>) throws(Problem) -> [UInt8]? {
        guard let text = try string(key, in: bytes) else { return nil }
        if let fault = TextRule.faultOfSelector(text, limits: limits) {
            addFault(key, fault)
            return nil
        }
        return text
    }

    /// Reads an idempotency key, or null.
    mutating func optionalIdempotencyKey(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> [UInt8]? {
        guard let text = try optionalString(key, in: bytes) else { return nil }
        if let fault = TextRule.faultOfKey(text, limits: limits) { addFault(key, fault) }
        return text
    }

    /// Reads the identifier of a notification, or null.
    mutating func optionalNotificationID(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> NotificationID? {
        try skipNull(in: bytes) ? nil : notificationID(key, in: bytes)
    }

    /// Reads the identifier of a notification; null is a fault.
    mutating func notificationID(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> NotificationID? {
        guard let text = try string(key, in: bytes) else { return nil }
        let id = NotificationID(text: text.span)
        if id == nil { addFault(key, "must be the id of a notification") }
        return id
    }

    /// Skips a userInfo, and returns its range; nil when it is null.
    mutating func userInfo(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> Range<Int>? {
        if try skipNull(in: bytes) { return nil }
        guard try expect(.object, key, in: bytes) else { return nil }
        let (range, isTooDeep) = try skipNested(in: bytes)
        if isTooDeep {
            addFault(key, "must not nest deeper than \(limits.userInfoDepthLimit) levels")
        }
        if range.count > limits.userInfoByteLimit {
            faults.addTooLarge(place([UInt8](key.utf8)), byteLimit: limits.userInfoByteLimit)
        }
        return range
    }

    /// Skips a value that is the userInfo by itself, and returns its range.
    mutating func wholeUserInfo(in bytes: Span<UInt8>) throws(Problem) -> Range<Int> {
        let kind = try kind(in: bytes)
        let (range, isTooDeep) = try skipNested(in: bytes)
        if kind != .object { faults.add(place(), "must be an object, not \(kind.text)") }
        if isTooDeep {
            faults.add(place(), "must not nest deeper than \(limits.userInfoDepthLimit) levels")
        }
        if range.count > limits.userInfoByteLimit {
            faults.addTooLarge(place(), byteLimit: limits.userInfoByteLimit)
        }
        return range
    }

    /// Skips the asker's default answer, which is any JSON, and returns its range.
    mutating func fallback(_ key: String, in bytes: Span<UInt8>) throws(Problem) -> Range<Int> {
        let (range, isTooDeep) = try skipNested(in: bytes)
        if isTooDeep { addFault(key, AskFields.fallbackDepthDetail(limits)) }
        if range.count > limits.fallbackByteLimit {
            faults.addTooLarge(
                place([UInt8](key.utf8)), AskFields.fallbackName,
                byteLimit: limits.fallbackByteLimit)
        }
        return range
    }

    private mutating func skipNested(
        in bytes: Span<UInt8>
    ) throws(Problem) -> (range: Range<Int>, isTooDeep: Bool) {
        let start = json.index
        do throws(JSONError) {
            return (try json.skipValue(in: bytes), false)
        } catch .depthLimit {
            return (try skipDeepValue(at: start, in: bytes), true)
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    /// Whether the next value is null; if so, it is skipped.
    mutating func skipNull(in bytes: Span<UInt8>) throws(Problem) -> Bool {
        guard try kind(in: bytes) == .null else { return false }
        _ = try skip(in: bytes)
        return true
    }

    /// Whether the next value is of this kind; if not, it is skipped and told.
    private mutating func expect(
        _ kind: JSONKind, _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> Bool {
        let found = try self.kind(in: bytes)
        if found == kind { return true }
        _ = try skip(in: bytes)
        addFault(key, "must be \(kind.text), not \(found.text)")
        return false
    }
}
