internal import BelfryJSON

/// Reads the members of objects, and collects their faults instead of stopping.
///
/// It stops at malformed JSON alone, so that a text which is no JSON is always 400, whatever else
/// is wrong with it. Each method is given the same text.
struct FieldReader {
    var json: JSONReader
    var faults: Faults
    let limits: WireLimits
    /// The place of the object in its batch.
    var item: Int?
    /// The place of the value in the array that is read as a member.
    private var element: Int?
    /// The ordinals of the members of this object so far.
    private var seen = JSONKeySet()

    /// The deepest nesting outside of a userInfo; a deeper value ends the reading.
    static let greatestDepth = 128

    init(limits: WireLimits, startingAt index: Int = 0) {
        json = JSONReader(depthLimit: limits.userInfoDepthLimit, startingAt: index)
        faults = Faults(limits: limits)
        self.limits = limits
    }

    /// Enters an object, through which `nextKey` goes; another value is skipped and a fault.
    ///
    /// - Returns: whether it is an object.
    mutating func beginObject(in bytes: Span<UInt8>) throws(Problem) -> Bool {
        guard try kind(in: bytes) == .object else {
            let found = try skip(in: bytes)
            faults.add(place(), "must be an object, not \(kindText(found, in: bytes))")
            return false
        }
        do throws(JSONError) {
            try json.beginObject(in: bytes)
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
        seen = JSONKeySet()
        return true
    }

    /// Moves to the value of the next known member, which the caller reads or skips.
    ///
    /// - Returns: nil at the end of the object; then members that are missing are faults.
    mutating func nextKey<Key>(
        of table: FieldTable<Key>, in bytes: Span<UInt8>
    ) throws(Problem) -> Key? {
        while try nextMember(in: bytes) {
            guard let ordinal = table.names.ordinal(of: json.key) else {
                faults.add(placeOfUnknownMember(), "is not a known field")
                _ = try skip(in: bytes)
                continue
            }
            guard seen.insert(ordinal) else {
                addFault("must not be repeated")
                _ = try skip(in: bytes)
                continue
            }
            if table.optional.contains(ordinal), try skipNull(in: bytes) { continue }
            return table.names[ordinal]
        }
        if !seen.isSuperset(of: table.required) { addMissingMembers(of: table) }
        return nil
    }

    private mutating func addMissingMembers<Key>(of table: FieldTable<Key>) {
        for ordinal in 0..<table.names.count
        where table.required.contains(ordinal) && !seen.contains(ordinal) {
            faults.add(place(table.names.name(of: ordinal)), "is required")
        }
    }

    /// Reads the value of a member that is an array; `read` reads or skips each element.
    ///
    /// A fault of an element points to its place.
    ///
    /// - Returns: how many elements it has.
    mutating func readArray(
        in bytes: Span<UInt8>,
        read: (inout FieldReader, Span<UInt8>) throws(Problem) -> Void
    ) throws(Problem) -> Int {
        var count = 0
        defer { element = nil }
        try beginArray(in: bytes)
        while try nextElement(in: bytes) {
            element = count
            try read(&self, bytes)
            count += 1
        }
        return count
    }

    /// Reads a member that is an array of objects; `read` reads the members of each.
    ///
    /// A fault of a member points to its place in its object.
    mutating func readObjects(
        in bytes: Span<UInt8>,
        read: (inout FieldReader, Span<UInt8>) throws(Problem) -> Void
    ) throws(Problem) {
        defer { item = nil }
        _ = try readArray(in: bytes) { (fields, bytes) throws(Problem) in
            (fields.item, fields.element) = (fields.element, nil)
            if try fields.beginObject(in: bytes) { try read(&fields, bytes) }
        }
    }

    /// Continues at another place of the text; the collected faults stay.
    mutating func restart(at index: Int, item: Int?) {
        json = JSONReader(depthLimit: limits.userInfoDepthLimit, startingAt: index)
        self.item = item
    }

    /// Adds a fault of the member that is read.
    mutating func addFault(_ detail: String) {
        faults.add(place(json.key), detail)
    }

    /// Adds a fault of a member behind the end of the object.
    mutating func addFault(_ key: some RawRepresentable<String>, _ detail: String) {
        faults.add(place([UInt8](key.rawValue.utf8)), detail)
    }

    /// The place of the object itself.
    func place() -> Problem.Place {
        .pointer(item.map { JSONPointer.root.appending(index: $0) } ?? .root)
    }

    func place(_ key: [UInt8]) -> Problem.Place {
        let root = item.map { JSONPointer.root.appending(index: $0) } ?? .root
        let pointer = root.appending(key: key)
        return .pointer(element.map { pointer.appending(index: $0) } ?? pointer)
    }

    /// An unknown key may have any length, and the answer shall not.
    private func placeOfUnknownMember() -> Problem.Place {
        json.key.count <= limits.nameScalarLimit ? place(json.key) : place()
    }
}

// The steps of the reader, with JSON errors turned into problems and faults.
extension FieldReader {
    private mutating func nextMember(in bytes: Span<UInt8>) throws(Problem) -> Bool {
        while true {
            do throws(JSONError) {
                return try json.nextMember(in: bytes)
            } catch .loneSurrogate {
                faults.add(place(), "has a key with half a surrogate pair")
            } catch {
                throw .malformed(error, byteCount: bytes.count)
            }
            _ = try skip(in: bytes)
        }
    }

    mutating func beginArray(in bytes: Span<UInt8>) throws(Problem) {
        do throws(JSONError) {
            try json.beginArray(in: bytes)
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    mutating func nextElement(in bytes: Span<UInt8>) throws(Problem) -> Bool {
        do throws(JSONError) {
            return try json.nextElement(in: bytes)
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    mutating func kind(in bytes: Span<UInt8>) throws(Problem) -> JSONKind {
        do throws(JSONError) {
            return try json.peekKind(in: bytes)
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    /// Skips a value of any kind, and of any depth up to the greatest one.
    mutating func skip(in bytes: Span<UInt8>) throws(Problem) -> Range<Int> {
        let start = json.index
        do throws(JSONError) {
            return try json.skipValue(in: bytes)
        } catch .depthLimit {
            return try skipDeepValue(at: start, in: bytes)
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    /// Skips a value that is too deep, to find out whether the rest is JSON.
    mutating func skipDeepValue(
        at start: Int, in bytes: Span<UInt8>
    ) throws(Problem) -> Range<Int> {
        var scanner = JSONScanner(depthLimit: Self.greatestDepth, startingAt: start)
        do throws(JSONError) {
            let range = try scanner.skipValue(in: bytes)
            json.resume(at: range.upperBound)
            return range
        } catch .depthLimit(let limit, _) {
            faults.add(place(), "must not nest deeper than \(limit) levels")
            throw faults.problem ?? .invalid([])
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    mutating func finish(in bytes: Span<UInt8>) throws(Problem) {
        do throws(JSONError) {
            try json.finish(in: bytes)
        } catch {
            throw .malformed(error, byteCount: bytes.count)
        }
    }

    func kindText(_ range: Range<Int>, in bytes: Span<UInt8>) -> String {
        var scanner = JSONScanner(startingAt: range.lowerBound)
        return (try? scanner.peekKind(in: bytes))?.text ?? "this"
    }
}
