import BelfryBytes
internal import BelfryCenter
internal import BelfryJSON

/// The members of the calls `setValue`, `mergeValue`, `removeValue` and `value`, as they come.
struct ValueFields {
    private var object: [UInt8]?
    private var path = DocumentPath.whole
    private var condition = ValueCondition()
    private var lifetime = ValueLifetime()
    /// The range of the value, or of the patch.
    private var content: Range<Int>?

    enum Key: String {
        case object, keyPath, value, patch, ttl, lease, ifMatch, ifNoneMatch
    }

    private static let set = table(
        of: [.object, .keyPath, .value, .ttl, .lease, .ifMatch, .ifNoneMatch])
    private static let merge = table(of: [.object, .keyPath, .patch, .ifMatch, .ifNoneMatch])
    private static let removal = table(of: [.object, .keyPath, .ifMatch, .ifNoneMatch])
    private static let look = table(of: [.object, .keyPath])

    private static func table(of keys: [Key]) -> FieldTable<Key> {
        FieldTable(keys, required: [.object], takingNull: [.value, .patch])
    }

    /// Reads or skips the value of one member.
    private mutating func read(
        _ key: Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .object: object = try fields.name(in: bytes)
        case .keyPath: path = try fields.keyPath(in: bytes) ?? .whole
        case .value, .patch: content = try fields.skip(in: bytes)
        case .ttl: lifetime.timeToLive = try fields.seconds(.timeToLive, in: bytes)
        case .lease:
            lifetime.lease = try fields.seconds(.init(from: 0, through: 86_400), in: bytes)
        case .ifMatch:
            condition.matches = try fields.value(ValueTagText.detail, in: bytes) {
                ValueTagText.tags(of: $0.span, countsWeak: false)
            }
        case .ifNoneMatch:
            condition.noneMatches = try fields.value(ValueTagText.detail, in: bytes) {
                ValueTagText.tags(of: $0.span, countsWeak: true)
            }
        }
    }

    private init(
        _ table: FieldTable<Key>, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard try fields.beginObject(in: bytes) else { return }
        while let key = try fields.nextKey(of: table, in: bytes) {
            try read(key, &fields, in: bytes)
        }
    }

    /// The document of a member, which must be there.
    private func document(
        of key: Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) -> Document? {
        guard let content else {
            if fields.faults.isEmpty { fields.addFault(key, "is required") }
            return nil
        }
        return try fields.document(
            in: bytes.extracting(content), at: path, isPatch: key == .patch, key: key)
    }

    /// Makes the request of members without a fault.
    private func request(
        _ change: ValueRequest.Change?, _ fields: FieldReader
    ) -> ValueRequest? {
        guard let change, fields.faults.isEmpty, let object else { return nil }
        return ValueRequest(object: object, path: path, condition: condition, change: change)
    }
}

// The calls.
extension ValueFields {
    static func setting(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) -> ValueRequest? {
        let members = try ValueFields(set, &fields, in: bytes)
        let value = try members.document(of: .value, &fields, in: bytes)
        return members.request(value.map { .set($0, members.lifetime) }, fields)
    }

    static func merging(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) -> ValueRequest? {
        let members = try ValueFields(merge, &fields, in: bytes)
        let patch = try members.document(of: .patch, &fields, in: bytes)
        return members.request(patch.map { .merge($0) }, fields)
    }

    static func removing(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) -> ValueRequest? {
        try ValueFields(removal, &fields, in: bytes).request(.remove, fields)
    }

    /// Reads the members of `value`.
    static func place(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) -> ValuePlace? {
        let members = try ValueFields(look, &fields, in: bytes)
        guard fields.faults.isEmpty, let object = members.object else { return nil }
        return ValuePlace(object: object, path: members.path)
    }
}

extension FieldReader {
    /// Reads a value for a place, or a patch of one, and collects its faults.
    ///
    /// - Parameter key: the member that it is; nil for the text itself.
    /// - Throws: malformed-json.
    mutating func document(
        in text: Span<UInt8>, at path: DocumentPath, isPatch: Bool, key: ValueFields.Key? = nil
    ) throws(Problem) -> Document? {
        // Made for faults alone.
        var place: Problem.Place {
            key.map { self.place([UInt8]($0.rawValue.utf8)) } ?? self.place()
        }
        let bounds = DocumentLimits(
            byteLimit: limits.documentByteLimit,
            depthLimit: limits.documentDepthLimit - path.keys.count)
        do throws(DocumentError) {
            let document =
                isPatch
                ? try Document.parsePatch(text, limits: bounds)
                : try Document.parse(text, limits: bounds)
            if document.isNull {
                faults.add(place, "must not be null; remove the value instead")
            } else if path.isWhole, !document.isObject {
                faults.add(place, "must be an object, because it is the whole value")
            } else {
                return document
            }
        } catch {
            switch error {
            case .tooManyBytes:
                faults.addTooLarge(place, "A value", byteLimit: limits.documentByteLimit)
            case .tooDeep:
                faults.add(
                    place,
                    "must not nest deeper than \(limits.documentDepthLimit) levels "
                        + "with its key path"
                )
            case .text(.duplicateMember):
                faults.add(place, "must not have a duplicate key")
            case .text(.loneSurrogate):
                faults.add(place, "must not contain half a surrogate pair")
            case .text(let error):
                throw .malformed(error, byteCount: text.count, wanted: Problem.anyJSON)
            }
        }
        return nil
    }

    /// Reads a key path.
    mutating func keyPath(in bytes: Span<UInt8>) throws(Problem) -> DocumentPath? {
        guard let text = try string(in: bytes) else { return nil }
        do throws(DocumentPathError) {
            return try DocumentPath.parse(text.span)
        } catch {
            addFault(error.detail)
            return nil
        }
    }
}

extension DocumentPathError {
    /// The text of a fault.
    var detail: String {
        switch self {
        case .emptyKey: "must be keys joined by points, none of them empty"
        case .tooManyKeys(let limit): "must have at most \(limit) keys"
        case .tooManyBytes(let limit): "must have at most \(limit) bytes"
        case .invalidUTF8: "must be valid UTF-8"
        }
    }
}
