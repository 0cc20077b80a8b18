import BelfryBytes
internal import BelfryCenter
internal import BelfryJSON

/// The members of the calls `setValue`, `mergeValue`, `removeValue` and `value`, as they come.
struct ValueFields {
    var object: [UInt8]?
    var path = DocumentPath.whole
    var condition = ValueCondition()
    var lifetime = ValueLifetime()
    /// The range of the value, or of the patch.
    var content: Range<Int>?

    enum Key: String {
        case object, keyPath, value, patch, ttl, lease, ifMatch, ifNoneMatch
    }

    static let setKeys: [Key] = [
        .object, .keyPath, .value, .ttl, .lease, .ifMatch, .ifNoneMatch,
    ]
    static let mergeKeys: [Key] = [.object, .keyPath, .patch, .ifMatch, .ifNoneMatch]
    static let removeKeys: [Key] = [.object, .keyPath, .ifMatch, .ifNoneMatch]
    static let lookKeys: [Key] = [.object, .keyPath]

    /// Reads or skips the value of one member.
    mutating func read(
        _ key: Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .object: object = try fields.name(key.rawValue, in: bytes)
        case .keyPath:
            path = try fields.optionalKeyPath(key.rawValue, in: bytes) ?? .whole
        case .value, .patch: content = try fields.skip(in: bytes)
        case .ttl:
            lifetime.timeToLive = try fields.optionalSeconds(
                key.rawValue, .timeToLive, in: bytes)
        case .lease:
            lifetime.lease = try fields.optionalSeconds(key.rawValue, .valueLease, in: bytes)
        case .ifMatch:
            condition.matches = try fields.optionalTags(
                key.rawValue, countsWeak: false, in: bytes)
        case .ifNoneMatch:
            condition.noneMatches = try fields.optionalTags(
                key.rawValue, countsWeak: true, in: bytes)
        }
    }
}

extension FieldReader {
    private static let setTable = JSONKeyTable(ValueFields.setKeys.map(\.rawValue))
    private static let mergeTable = JSONKeyTable(ValueFields.mergeKeys.map(\.rawValue))
    private static let removeTable = JSONKeyTable(ValueFields.removeKeys.map(\.rawValue))
    private static let lookTable = JSONKeyTable(ValueFields.lookKeys.map(\.rawValue))

    /// Reads the members of `setValue`.
    mutating func readSetValue(in bytes: Span<UInt8>) throws(Problem) -> ValueRequest? {
        let fields = try readValue(Self.setTable, ValueFields.setKeys, in: bytes)
        guard let value = try content(of: fields, "value", isPatch: false, in: bytes),
            faults.isEmpty, let object = fields.object
        else { return nil }
        return ValueRequest(
            object: object, path: fields.path, condition: fields.condition,
            change: .set(value, fields.lifetime))
    }

    /// Reads the members of `mergeValue`.
    mutating func readMergeValue(in bytes: Span<UInt8>) throws(Problem) -> ValueRequest? {
        let fields = try readValue(Self.mergeTable, ValueFields.mergeKeys, in: bytes)
        guard let patch = try content(of: fields, "patch", isPatch: true, in: bytes),
            faults.isEmpty, let object = fields.object
        else { return nil }
        return ValueRequest(
            object: object, path: fields.path, condition: fields.condition, change: .merge(patch))
    }

    /// Reads the members of `removeValue`.
    mutating func readRemoveValue(in bytes: Span<UInt8>) throws(Problem) -> ValueRequest? {
        let fields = try readValue(Self.removeTable, ValueFields.removeKeys, in: bytes)
        guard faults.isEmpty, let object = fields.object else { return nil }
        return ValueRequest(
            object: object, path: fields.path, condition: fields.condition, change: .remove)
    }

    /// Reads the members of `value`.
    mutating func readValuePlace(in bytes: Span<UInt8>) throws(Problem) -> ValuePlace? {
        let fields = try readValue(Self.lookTable, ValueFields.lookKeys, in: bytes)
        guard faults.isEmpty, let object = fields.object else { return nil }
        return ValuePlace(object: object, path: fields.path)
    }

    private mutating func readValue(
        _ table: JSONKeyTable, _ keys: [ValueFields.Key], in bytes: Span<UInt8>
    ) throws(Problem) -> ValueFields {
        var value = ValueFields()
        let isObject = try readObject(table, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            try value.read(keys[ordinal], &fields, in: bytes)
        }
        if isObject, !has(0) { addFault("object", "is required") }
        return value
    }

    /// The value or the patch of a call, which must be there.
    private mutating func content(
        of value: ValueFields, _ key: String, isPatch: Bool, in bytes: Span<UInt8>
    ) throws(Problem) -> Document? {
        guard let range = value.content else {
            if faults.isEmpty { addFault(key, "is required") }
            return nil
        }
        return try document(
            in: bytes.extracting(range), at: value.path, isPatch: isPatch, key: key)
    }

    /// Reads a value for a place, or a patch of one, and collects its faults.
    ///
    /// - Parameter key: the member that it is; nil for the text itself.
    /// - Throws: malformed-json.
    mutating func document(
        in text: Span<UInt8>, at path: DocumentPath, isPatch: Bool, key: String? = nil
    ) throws(Problem) -> Document? {
        let bounds = DocumentLimits(
            byteLimit: limits.documentByteLimit,
            depthLimit: limits.documentDepthLimit - path.keys.count)
        do throws(DocumentError) {
            let document =
                isPatch
                ? try Document.parsePatch(text, limits: bounds)
                : try Document.parse(text, limits: bounds)
            if document.isNull {
                faults.add(place(of: key), "must not be null; remove the value instead")
            } else if path.isWhole, !document.isObject {
                faults.add(place(of: key), "must be an object, because it is the whole value")
            } else {
                return document
            }
        } catch {
            switch error {
            case .tooManyBytes:
                faults.addTooLarge(place(of: key), "A value", byteLimit: limits.documentByteLimit)
            case .tooDeep:
                faults.add(
                    place(of: key),
                    "must not nest deeper than \(limits.documentDepthLimit) levels "
                        + "with its key path"
                )
            case .text(.duplicateMember):
                faults.add(place(of: key), "must not have a duplicate key")
            case .text(.loneSurrogate):
                faults.add(place(of: key), "must not contain half a surrogate pair")
            case .text(let error):
                throw .malformed(error, byteCount: text.count, wanted: Problem.anyJSON)
            }
        }
        return nil
    }

    /// The place of a member, or of all that is read, which is made for faults alone.
    private func place(of key: String?) -> Problem.Place {
        key.map { place([UInt8]($0.utf8)) } ?? place()
    }

    /// Reads a key path, or null.
    mutating func optionalKeyPath(
        _ key: String, in bytes: Span<UInt8>
    ) throws(Problem) -> DocumentPath? {
        guard let text = try optionalString(key, in: bytes) else { return nil }
        do throws(DocumentPathError) {
            return try DocumentPath.parse(text.span)
        } catch {
            addFault(key, error.detail)
            return nil
        }
    }

    /// Reads a condition of RFC 9110 §13.1, or null.
    fileprivate mutating func optionalTags(
        _ key: String, countsWeak: Bool, in bytes: Span<UInt8>
    ) throws(Problem) -> ValueCondition.Tags? {
        guard let text = try optionalString(key, in: bytes) else { return nil }
        let tags = ValueTagText.tags(of: text.span, countsWeak: countsWeak)
        if tags == nil { addFault(key, ValueTagText.detail) }
        return tags
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
