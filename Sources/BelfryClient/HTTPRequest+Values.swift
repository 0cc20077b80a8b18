internal import BelfryHTTP

// Values without a center, one request each: what `RemoteCenter` has as methods.
extension HTTPRequest {
    /// Reads the value at a key path of an object; the `entityTag` of the answer is its `etag`.
    public static func value(_ object: String, keyPath: String = "") -> HTTPRequest {
        HTTPRequest(.get, valuePath(object, keyPath), answer: .value)
    }

    /// Sets the value at a key path; the parameters are those of `RemoteCenter.setValue`.
    public static func setValue(
        _ object: String, keyPath: String = "", json: [UInt8], ttl: Duration? = nil,
        ifMatch: String? = nil, ifNoneMatch: String? = nil
    ) throws(ClientError) -> HTTPRequest {
        var request = HTTPRequest(
            .put, valuePath(object, keyPath), content: json, answer: receipt)
        request.fields = [HTTPField("Content-Type", "application/json")]
        if let ttl { request.query.append(("ttl", "\(ttl / .seconds(1))")) }
        try request.require(ifMatch: ifMatch, ifNoneMatch: ifNoneMatch)
        return request
    }

    /// Applies a merge patch to the value at a key path (RFC 7396).
    public static func mergeValue(
        _ object: String, keyPath: String = "", patch: [UInt8], ifMatch: String? = nil,
        ifNoneMatch: String? = nil
    ) throws(ClientError) -> HTTPRequest {
        var request = HTTPRequest(
            .patch, valuePath(object, keyPath), content: patch, answer: receipt)
        request.fields = [HTTPField("Content-Type", "application/merge-patch+json")]
        try request.require(ifMatch: ifMatch, ifNoneMatch: ifNoneMatch)
        return request
    }

    /// Removes the value at a key path, or the whole value.
    public static func removeValue(
        _ object: String, keyPath: String = "", ifMatch: String? = nil
    ) throws(ClientError) -> HTTPRequest {
        var request = HTTPRequest(.delete, valuePath(object, keyPath), answer: receipt)
        try request.require(ifMatch: ifMatch, ifNoneMatch: nil)
        return request
    }

    /// The account of a write.
    private static let receipt = AnswerForm.object(["changed", "seq"])

    private static func valuePath(_ object: String, _ keyPath: String) -> String {
        keyPath.isEmpty
            ? "values/\(segment(object))" : "values/\(segment(object))/\(segment(keyPath))"
    }

    /// Makes the write depend on the present value (RFC 9110 section 13.1).
    private mutating func require(
        ifMatch: String?, ifNoneMatch: String?
    ) throws(ClientError) {
        for (name, tag) in [("If-Match", ifMatch), ("If-None-Match", ifNoneMatch)] {
            guard let tag else { continue }
            // It becomes the value of a field.
            guard !tag.isEmpty, tag.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
                throw .invalidEntityTag
            }
            fields.append(HTTPField(name, tag))
        }
    }
}
