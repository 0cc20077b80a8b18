import BelfryBytes
internal import BelfryCenter
internal import BelfryJSON

// The values of members; one that is at fault is nil, and the fault is collected.
extension FieldReader: FieldSource {
    mutating func string(in bytes: Span<UInt8>) throws(Problem) -> [UInt8]? {
        guard try expect(.string, in: bytes) else { return nil }
        do throws(JSONError) {
            return try json.readString(in: bytes)
        } catch .loneSurrogate {
            addFault("must not contain half a surrogate pair")
            return nil
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    mutating func integer(
        in range: ClosedRange<Int>, of bytes: Span<UInt8>
    ) throws(Problem) -> Int? {
        guard try expect(.number, in: bytes) else { return nil }
        do throws(JSONError) {
            // 80.0 and 8e1 are integers too (JSON Schema 2020-12 §4.2.3).
            let value = Int(exactly: try json.readDouble(in: bytes))
            if let value, range.contains(value) { return value }
        } catch .numberOutOfRange {
            // Told below like a number that is outside of the range.
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
        addFault("must be an integer from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// Reads a number from zero to a limit.
    mutating func number(
        upTo limit: Double, in bytes: Span<UInt8>
    ) throws(Problem) -> Double? {
        guard try expect(.number, in: bytes) else { return nil }
        do throws(JSONError) {
            let value = try json.readDouble(in: bytes)
            if value >= 0, value <= limit { return value }
        } catch .numberOutOfRange {
            // Told below like a number that is outside of the range.
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
        let expected = limit == 0 ? "0" : "a number from 0 to \(Int(limit))"
        addFault("must be \(expected)")
        return nil
    }

    mutating func boolean(in bytes: Span<UInt8>) throws(Problem) -> Bool? {
        guard try expect(.boolean, in: bytes) else { return nil }
        do throws(JSONError) {
            return try json.readBool(in: bytes)
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    mutating func seconds(
        _ rule: SecondsRule, in bytes: Span<UInt8>
    ) throws(Problem) -> Int64? {
        guard try expect(.number, in: bytes) else { return nil }
        var nanoseconds: Int64?
        do throws(JSONError) {
            nanoseconds = rule.nanoseconds(try json.readDouble(in: bytes))
        } catch .numberOutOfRange {
            // Told below like a number that is outside of the range.
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
        if nanoseconds == nil { addFault(rule.detail) }
        return nanoseconds
    }

    mutating func timerLease(in bytes: Span<UInt8>) throws(Problem) -> TimerFields.Lease? {
        if try skipNull(in: bytes) { return .forever }
        return try seconds(.timerLease, in: bytes).map { .nanoseconds($0) }
    }

    /// Reads `none`, or an array of `name` and `sender`.
    mutating func coalescing(in bytes: Span<UInt8>) throws(Problem) -> Coalescing? {
        switch try kind(in: bytes) {
        case .string:
            guard let text = try string(in: bytes) else { return nil }
            if text.elementsEqual("none".utf8) { return Coalescing.none }
            addFault(Coalescing.detail)
            return nil
        case .array:
            var coalescing = Coalescing.none
            _ = try readArray(in: bytes) { (fields, bytes) throws(Problem) in
                guard let word = try fields.string(in: bytes) else { return }
                if let part = Coalescing(word: word) {
                    coalescing.formUnion(part)
                } else {
                    fields.addFault(Coalescing.wordDetail)
                }
            }
            return coalescing
        case .object, .number, .boolean, .null:
            _ = try skip(in: bytes)
            addFault(Coalescing.detail)
            return nil
        }
    }

    mutating func modes(in bytes: Span<UInt8>) throws(Problem) -> [[UInt8]]? {
        guard try expect(.array, in: bytes) else { return nil }
        var modes: [[UInt8]] = []
        var seenCount = 0
        let limit = limits.modeCountLimit
        let count = try readArray(in: bytes) { (fields, bytes) throws(Problem) in
            seenCount += 1
            if seenCount > limit {
                _ = try fields.skip(in: bytes)
            } else if let mode = try fields.name(in: bytes), !modes.contains(mode) {
                modes.append(mode)
            }
        }
        if count < 1 || count > limit {
            addFault("must have 1 to \(limit) names, not \(count)")
        }
        return modes
    }

    /// Reads an array of selectors, each of which comes once.
    ///
    /// Faulty elements are left out; the result is empty where there is no array.
    mutating func selectors(in bytes: Span<UInt8>) throws(Problem) -> [[UInt8]] {
        guard try expect(.array, in: bytes) else { return [] }
        var selectors: [[UInt8]] = []
        var seenCount = 0
        let limit = limits.selectorCountLimit
        let count = try readArray(in: bytes) { (fields, bytes) throws(Problem) in
            seenCount += 1
            if seenCount > limit {
                _ = try fields.skip(in: bytes)
            } else if let selector = try fields.selector(in: bytes) {
                if selectors.contains(selector) {
                    fields.addFault("must not be repeated")
                } else {
                    selectors.append(selector)
                }
            }
        }
        if count > limit { addFault("must have at most \(limit) selectors, not \(count)") }
        return selectors
    }

    /// Skips a userInfo, and returns its range.
    mutating func userInfo(in bytes: Span<UInt8>) throws(Problem) -> Range<Int>? {
        guard try expect(.object, in: bytes) else { return nil }
        let (range, isTooDeep) = try skipNested(in: bytes)
        if isTooDeep {
            addFault("must not nest deeper than \(limits.userInfoDepthLimit) levels")
        }
        if range.count > limits.userInfoByteLimit {
            faults.addTooLarge(place(json.key), byteLimit: limits.userInfoByteLimit)
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

    mutating func fallback(in bytes: Span<UInt8>) throws(Problem) -> [UInt8]? {
        let (range, isTooDeep) = try skipNested(in: bytes)
        if isTooDeep {
            addFault("must not nest deeper than \(limits.userInfoDepthLimit) levels")
        }
        if range.count > limits.fallbackByteLimit {
            faults.addTooLarge(
                place(json.key), AskFields.fallbackName, byteLimit: limits.fallbackByteLimit)
        }
        return [UInt8](copying: bytes.extracting(range))
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
    mutating func expect(
        _ kind: JSONKind, in bytes: Span<UInt8>
    ) throws(Problem) -> Bool {
        let found = try self.kind(in: bytes)
        if found == kind { return true }
        _ = try skip(in: bytes)
        addFault("must be \(kind.text), not \(found.text)")
        return false
    }
}
