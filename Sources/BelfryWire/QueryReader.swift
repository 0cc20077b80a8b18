import BelfryBytes
internal import BelfryCenter
internal import BelfryJSON

/// Reads the parameters of a query, percent-decoded, and collects their faults.
struct QueryReader {
    let limits: WireLimits
    var faults: Faults
    /// The parameters that came so far, by their ordinals.
    private var seen = JSONKeySet()
    /// The name of the parameter that is read.
    private var name: [UInt8] = []

    init(limits: WireLimits, faults: Faults? = nil) {
        self.limits = limits
        self.faults = faults ?? Faults(limits: limits)
    }

    /// Finds the key of a parameter; one that is unknown or comes twice is a fault, and nil.
    mutating func key<Key>(
        of parameter: QueryParameter, in table: JSONKeyTable<Key>
    ) -> Key? {
        name = parameter.name
        guard let ordinal = table.ordinal(of: name) else {
            addFault("is not a known parameter")
            return nil
        }
        guard seen.insert(ordinal) else {
            addFault(Self.twiceDetail)
            return nil
        }
        return table[ordinal]
    }

    static let twiceDetail = "must not be repeated"

    /// The place of the parameter; an unknown name may have any length, and the answer shall not.
    private var place: Problem.Place {
        .parameter(String(decoding: name.prefix(limits.nameScalarLimit), as: UTF8.self))
    }
}

extension QueryReader: FieldSource {
    mutating func addFault(_ detail: String) {
        faults.add(place, detail)
    }

    mutating func string(in bytes: Span<UInt8>) -> [UInt8]? {
        [UInt8](copying: bytes)
    }

    mutating func boolean(in bytes: Span<UInt8>) -> Bool? {
        let text = [UInt8](copying: bytes)
        if text.elementsEqual("true".utf8) { return true }
        if text.elementsEqual("false".utf8) { return false }
        addFault("must be true or false")
        return nil
    }

    mutating func integer(in range: ClosedRange<Int>, of bytes: Span<UInt8>) -> Int? {
        if let number = Decimal.read(bytes), let integer = Int(exactly: number),
            range.contains(integer)
        {
            return integer
        }
        addFault("must be an integer from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    mutating func seconds(_ rule: SecondsRule, in bytes: Span<UInt8>) -> Int64? {
        let nanoseconds = rule.nanoseconds(ofText: [UInt8](copying: bytes))
        if nanoseconds == nil { addFault(rule.detail) }
        return nanoseconds
    }

    mutating func timerLease(in bytes: Span<UInt8>) -> TimerFields.Lease? {
        let lease = TimerFields.Lease(text: [UInt8](copying: bytes))
        if lease == nil { addFault(TimerFields.Lease.detail) }
        return lease
    }

    mutating func coalescing(in bytes: Span<UInt8>) -> Coalescing? {
        let coalescing = Coalescing(list: [UInt8](copying: bytes))
        if coalescing == nil { addFault(Coalescing.listDetail) }
        return coalescing
    }

    mutating func modes(in bytes: Span<UInt8>) -> [[UInt8]]? {
        let names = [UInt8](copying: bytes).split(
            separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard names.count <= limits.modeCountLimit else {
            addFault("must have 1 to \(limits.modeCountLimit) names, not \(names.count)")
            return nil
        }
        var modes: [[UInt8]] = []
        for name in names {
            let mode = [UInt8](name)
            if let fault = TextRule.faultOfName(mode.span, limits: limits) {
                addFault(fault)
                return nil
            }
            if !modes.contains(mode) { modes.append(mode) }
        }
        return modes
    }

    mutating func fallback(in bytes: Span<UInt8>) -> [UInt8]? {
        var scanner = JSONScanner(depthLimit: limits.userInfoDepthLimit)
        do throws(JSONError) {
            let range = try scanner.skipValue(in: bytes)
            try scanner.finish(in: bytes)
            if range.count > limits.fallbackByteLimit {
                faults.addTooLarge(
                    place, AskFields.fallbackName, byteLimit: limits.fallbackByteLimit)
            }
            return [UInt8](copying: bytes.extracting(range))
        } catch .depthLimit {
            addFault("must not nest deeper than \(limits.userInfoDepthLimit) levels")
        } catch {
            addFault(#"must be JSON, as in default=false and default="none""#)
        }
        return nil
    }

    /// Reads a condition that a parameter has as JSON.
    mutating func condition(in bytes: Span<UInt8>) -> JSONCondition? {
        do throws(JSONConditionError) {
            return try JSONCondition(bytes)
        } catch {
            let within = error.pointer.isEmpty ? "" : " at \(error.pointer)"
            addFault("\(error.message)\(within)")
            return nil
        }
    }
}
