internal import BelfryJSON

// The observers and responders that a post or an ask would reach (Protocol.md section 5).
extension RemoteCenter {
    /// Lists the observers that would get a notification, and those that nearly would.
    ///
    /// Nothing is posted.
    ///
    /// - Parameters:
    ///   - name: the notification name.
    ///   - object: the object; `nil` is none.
    ///   - userInfo: the userInfo, which decides the conditions of observers; without one a row of
    ///     an observer with a condition has `"where":true`.
    ///   - limit: how many rows come; the broker has a default.
    ///   - cursor: the `next` of the answer before, for more.
    /// - Returns: what `GET /v1/explain` answers, as JSON text.
    /// - Throws: `ClientError`.
    public func explain(
        name: String, object: String? = nil, userInfo: UserInfo? = nil, limit: Int? = nil,
        cursor: String? = nil
    ) async throws(ClientError) -> String {
        try await explain { writer, bytes in
            writer.member("name", string: name, into: &bytes)
            if let object { writer.member("object", string: object, into: &bytes) }
            if let userInfo { writer.member("userInfo", raw: userInfo.json, into: &bytes) }
            if let limit { writer.member("limit", integer: limit, into: &bytes) }
            if let cursor { writer.member("cursor", string: cursor, into: &bytes) }
        }
    }

    /// Lists the responders that would be asked for a selector of this address; none is asked.
    ///
    /// - Returns: what `GET /v1/explain` answers, as JSON text.
    /// - Throws: `ClientError`.
    public func explain(
        ask object: String, _ selector: String
    ) async throws(ClientError) -> String {
        try await explain { writer, bytes in
            writer.member("object", string: object, into: &bytes)
            writer.member("selector", string: selector, into: &bytes)
        }
    }

    private func explain(
        _ members: (inout JSONWriter, inout [UInt8]) -> Void
    ) async throws(ClientError) -> String {
        let params = RPCRequest.params(members)
        let answer = try await submit { .call(method: "explain", params: params, $0) }
        return String(decoding: answer, as: UTF8.self)
    }
}

extension HTTPRequest {
    /// Lists the observers that would get a notification with this userInfo; nothing is posted.
    ///
    /// Conditions are decided: an observer whose condition is false is a near miss `where-false`.
    public static func explain(
        name: String, object: String? = nil, userInfo: UserInfo
    ) -> HTTPRequest {
        let content = RPCRequest.params { writer, bytes in
            writer.member("name", string: name, into: &bytes)
            if let object { writer.member("object", string: object, into: &bytes) }
            writer.member("userInfo", raw: userInfo.json, into: &bytes)
        }
        return post("explain", json: content)
    }
}
