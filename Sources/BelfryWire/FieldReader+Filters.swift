internal import BelfryBytes
internal import BelfryCenter
internal import BelfryJSON

// The values of filters.
extension FieldReader {
    /// Reads a set of names, each of which comes once; faulty elements are left out.
    mutating func names(in bytes: Span<UInt8>) throws(Problem) -> [[UInt8]] {
        guard try expect(.array, in: bytes) else { return [] }
        var names: [[UInt8]] = []
        var seenCount = 0
        let count = try readArray(in: bytes) { (fields, bytes) throws(Problem) in
            seenCount += 1
            if seenCount > WireLimits.nameCountLimit {
                _ = try fields.skip(in: bytes)
            } else if let name = try fields.name(in: bytes) {
                if names.contains(name) { fields.addFault("must not be repeated") }
                fields.checkReserved(name)
                names.append(name)
            }
        }
        if count < 1 || count > WireLimits.nameCountLimit {
            addFault("must have 1 to \(WireLimits.nameCountLimit) names, not \(count)")
        }
        return names
    }

    /// Adds the fault of a name that only the broker has, and nobody may observe.
    mutating func checkReserved(_ name: [UInt8]) {
        if TextRule.isReserved(name), !TextRule.isLifetimeChannel(name) {
            faults.addReservedName(place(json.key))
        }
    }

    /// Reads a condition; its fault points to what is wrong in it (rule W7).
    mutating func condition(in bytes: Span<UInt8>) throws(Problem) -> JSONCondition? {
        let key = json.key
        let range = try skip(in: bytes)
        do throws(JSONConditionError) {
            return try JSONCondition(bytes.extracting(range))
        } catch {
            let place = place(key)
            if case .pointer(let pointer) = place {
                faults.add(.pointer(pointer.appending(error.pointer)), error.message)
            }
            return nil
        }
    }
}
