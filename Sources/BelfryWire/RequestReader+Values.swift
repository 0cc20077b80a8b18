public import BelfryCenter
public import BelfryJSON

// Values over HTTP, and the params of their calls.
extension RequestReader {
    /// Reads the place of a value, whose object and key path come percent-decoded from the path.
    ///
    /// - Throws: invalid-fields.
    public func valuePlace(
        object: [UInt8], keyPath: [UInt8]
    ) throws(Problem) -> ValuePlace {
        var faults = Faults(limits: limits)
        if let fault = TextRule.faultOfName(object.span, limits: limits) {
            faults.add(.parameter("object"), fault)
        }
        let path = path(keyPath, &faults)
        try faults.check()
        return ValuePlace(object: object, path: path)
    }

    /// Checks a key path that came in the query.
    ///
    /// - Throws: invalid-fields, with the parameter.
    public func keyPath(_ text: [UInt8]) throws(Problem) -> DocumentPath {
        var faults = Faults(limits: limits)
        let path = path(text, &faults)
        try faults.check()
        return path
    }

    private func path(_ text: [UInt8], _ faults: inout Faults) -> DocumentPath {
        do throws(DocumentPathError) {
            return try DocumentPath.parse(text.span)
        } catch {
            faults.add(.parameter("keyPath"), error.detail)
            return .whole
        }
    }

    /// Reads a value that is to be put in a place: the content is any JSON but null.
    ///
    /// - Throws: malformed-json, content-too-large or invalid-fields.
    public func setValue(
        _ place: ValuePlace, condition: ValueCondition, query: [QueryParameter],
        content: Span<UInt8>
    ) throws(Problem) -> ValueRequest {
        var fields = FieldReader(limits: limits)
        var lifetime = ValueLifetime()
        _ = read(query, of: ["ttl"], &fields.faults) { _, value in
            lifetime.timeToLive = SecondsRule.timeToLive.nanoseconds(ofText: value)
            return lifetime.timeToLive == nil ? SecondsRule.timeToLive.detail : nil
        }
        let value = try fields.document(in: content, at: place.path, isPatch: false)
        return try request(place, condition, value.map { .set($0, lifetime) }, fields)
    }

    /// Reads a merge patch for a place.
    ///
    /// - Throws: malformed-json, content-too-large or invalid-fields.
    public func mergeValue(
        _ place: ValuePlace, condition: ValueCondition, query: [QueryParameter],
        content: Span<UInt8>
    ) throws(Problem) -> ValueRequest {
        var fields = FieldReader(limits: limits)
        _ = read(query, of: [], &fields.faults) { _, _ in nil }
        let patch = try fields.document(in: content, at: place.path, isPatch: true)
        return try request(place, condition, patch.map { .merge($0) }, fields)
    }

    private func request(
        _ place: ValuePlace, _ condition: ValueCondition, _ change: ValueRequest.Change?,
        _ fields: FieldReader
    ) throws(Problem) -> ValueRequest {
        guard let change, fields.faults.isEmpty else {
            throw fields.faults.problem ?? .invalid([])
        }
        return ValueRequest(
            object: place.object, path: place.path, condition: condition, change: change)
    }

    /// Reads the fields `If-Match` and `If-None-Match`.
    ///
    /// - Throws: invalid-fields, with the header.
    public func condition(
        ifMatch: [UInt8]?, ifNoneMatch: [UInt8]?
    ) throws(Problem) -> ValueCondition {
        var condition = ValueCondition()
        if let ifMatch {
            condition.matches = ValueTagText.tags(of: ifMatch.span, countsWeak: false)
            if condition.matches == nil {
                throw .invalidHeader("If-Match", ValueTagText.detail)
            }
        }
        if let ifNoneMatch {
            condition.noneMatches = ValueTagText.tags(of: ifNoneMatch.span, countsWeak: true)
            if condition.noneMatches == nil {
                throw .invalidHeader("If-None-Match", ValueTagText.detail)
            }
        }
        return condition
    }

    // MARK: Calls

    /// Reads the params of `setValue`.
    ///
    /// - Throws: malformed-json, content-too-large or invalid-fields.
    public func setValue(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> ValueRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readSetValue(in: bytes)
        }
    }

    /// Reads the params of `mergeValue`.
    ///
    /// - Throws: malformed-json, content-too-large or invalid-fields.
    public func mergeValue(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> ValueRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readMergeValue(in: bytes)
        }
    }

    /// Reads the params of `removeValue`.
    ///
    /// - Throws: invalid-fields.
    public func removeValue(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> ValueRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readRemoveValue(in: bytes)
        }
    }

    /// Reads the params of `value`.
    ///
    /// - Throws: invalid-fields.
    public func valuePlace(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> ValuePlace {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readValuePlace(in: bytes)
        }
    }
}
