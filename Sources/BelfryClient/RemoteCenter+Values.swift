internal import BelfryJSON

// Values: one JSON object of each object, addressed by key path (Protocol.md, "Values").
extension RemoteCenter {
    /// Observes the value of an object, or the value at a key path in it.
    ///
    /// ```
    /// for try await change in try await center.addObserver(object: "settings", keyPath: "ui") {
    ///     show(change.value)
    /// }
    /// ```
    ///
    /// Each change has the whole value at the path. With `ClientOptions.reconnects` a lost
    /// connection brings the observer back, and a change if there was one.
    ///
    /// - Parameters:
    ///   - object: the object that has the value.
    ///   - keyPath: keys, joined by `.`; empty for the whole.
    ///   - selector: the name of the observer's method in listings; by default one that no other
    ///     has.
    ///   - options: which changes it gets, and its suspension behavior.
    /// - Throws: `ClientError`.
    public func addObserver(
        object: String, keyPath: String, selector: String? = nil,
        options: ValueOptions = ValueOptions()
    ) async throws(ClientError) -> ValueObservation {
        let selector = selector ?? nextSelector()
        let wish = ObserverWish(
            name: nil, object: object, selector: selector, since: nil, options: options.terms,
            buffer: NotificationBuffer(self.options),
            place: ObserverWish.Place(keyPath: keyPath, options: options))
        return ValueObservation(
            object: object, keyPath: keyPath, observation: try await add(wish))
    }

    /// Sets the value at a key path, and waits until the broker has it.
    ///
    /// Values on the way that are no objects become objects.
    ///
    /// - Parameters:
    ///   - object: the object that has the value.
    ///   - keyPath: keys, joined by `.`; empty for the whole, which is an object.
    ///   - json: the value as JSON text.
    ///   - ttl: how long it stays after its last setting.
    ///   - lease: how long it stays after this connection is lost, 0 to 86,400 seconds; such a
    ///     value shows others that this client is present. With `ClientOptions.reconnects` the next
    ///     connection sets it again, unless another client has set it meanwhile.
    ///   - ifMatch: the `etag` that the value must have, else it is refused with
    ///     `precondition-failed`.
    ///   - ifNoneMatch: an `etag` that it must not have; `*` sets only where there is nothing.
    /// - Throws: `ClientError`; it is certain that nothing was set only after `refused` with
    ///   another slug than `outcome-unknown`: with that one a cluster may have set it, or may set
    ///   it later.
    @discardableResult
    public func setValue(
        _ object: String, keyPath: String = "", json: String, ttl: Duration? = nil,
        lease: Duration? = nil, ifMatch: String? = nil, ifNoneMatch: String? = nil
    ) async throws(ClientError) -> ValueReceipt {
        try await write(
            "setValue",
            [
                "object": .text(object), "keyPath": .keyPath(keyPath), "value": .json(json),
                "ttl": ttl.map(Parameter.seconds), "lease": lease.map(Parameter.seconds),
                "ifMatch": ifMatch.map(Parameter.text),
                "ifNoneMatch": ifNoneMatch.map(Parameter.text),
            ])
    }

    /// Applies a merge patch to the value at a key path: several keys in one change (RFC 7396).
    ///
    /// - Throws: `ClientError`, as `setValue`.
    @discardableResult
    public func mergeValue(
        _ object: String, keyPath: String = "", patch: String, ifMatch: String? = nil,
        ifNoneMatch: String? = nil
    ) async throws(ClientError) -> ValueReceipt {
        try await write(
            "mergeValue",
            [
                "object": .text(object), "keyPath": .keyPath(keyPath), "patch": .json(patch),
                "ifMatch": ifMatch.map(Parameter.text),
                "ifNoneMatch": ifNoneMatch.map(Parameter.text),
            ])
    }

    /// Removes the value at a key path, or the whole value.
    ///
    /// - Throws: `ClientError`; `refused` when there is none.
    @discardableResult
    public func removeValue(
        _ object: String, keyPath: String = "", ifMatch: String? = nil
    ) async throws(ClientError) -> ValueReceipt {
        try await write(
            "removeValue",
            [
                "object": .text(object), "keyPath": .keyPath(keyPath),
                "ifMatch": ifMatch.map(Parameter.text),
            ])
    }

    /// Reads the value at a key path; nil when there is none.
    ///
    /// - Throws: `ClientError`.
    public func value(
        _ object: String, keyPath: String = ""
    ) async throws(ClientError) -> StoredValue? {
        do throws(ClientError) {
            return try StoredValue(
                json: try await call(
                    "value", ["object": .text(object), "keyPath": .keyPath(keyPath)]))
        } catch {
            if case .refused(let refusal) = error, refusal.status == 404 { return nil }
            throw error
        }
    }

    private func write(
        _ method: String, _ members: KeyValuePairs<String, Parameter?>
    ) async throws(ClientError) -> ValueReceipt {
        try ValueReceipt(json: try await call(method, members))
    }

    private func call(
        _ method: String, _ members: KeyValuePairs<String, Parameter?>
    ) async throws(ClientError) -> [UInt8] {
        // A value that is no JSON would break the message.
        guard members.allSatisfy({ $0.value?.isJSON ?? true }) else { throw .invalidValue }
        let params = RPCRequest.params { writer, bytes in
            for (key, parameter) in members { parameter?.write(key, &writer, &bytes) }
        }
        return try await submit { .call(method: method, params: params, $0) }
    }
}

/// A member of a call's params.
private enum Parameter {
    case text(String)
    /// The whole has none.
    case keyPath(String)
    case json(String)
    case seconds(Duration)

    var isJSON: Bool {
        if case .json(let text) = self { JSONObject.isJSON(Array(text.utf8)) } else { true }
    }

    func write(_ key: String, _ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        switch self {
        case .keyPath(""): break
        case .text(let text), .keyPath(let text): writer.member(key, string: text, into: &bytes)
        case .json(let text): writer.member(key, raw: Array(text.utf8), into: &bytes)
        case .seconds(let duration): writer.member(key, seconds: duration, into: &bytes)
        }
    }
}
