internal import BelfryJSON

/// The JSON-RPC requests that a client sends, each as one text message.
enum RPCRequest {
    static func addObserver(
        id: Int, name: String?, object: String?, selector: String, since: UInt64?
    ) -> [UInt8] {
        request(id: id, method: "addObserver") { writer, bytes in
            text("name", name, &writer, &bytes)
            text("object", object, &writer, &bytes)
            writer.member("selector", string: selector, into: &bytes)
            if let since { writer.member("since", integer: since, into: &bytes) }
        }
    }

    static func removeObserver(id: Int, token: String) -> [UInt8] {
        request(id: id, method: "removeObserver") { writer, bytes in
            writer.member("token", string: token, into: &bytes)
        }
    }

    static func post(id: Int, name: String, object: String?, userInfo: UserInfo?) -> [UInt8] {
        request(id: id, method: "post") { writer, bytes in
            writer.member("name", string: name, into: &bytes)
            if let object { writer.member("object", string: object, into: &bytes) }
            if let userInfo { writer.member("userInfo", raw: userInfo.json, into: &bytes) }
        }
    }

    /// The answer to a request of the broker: this client implements none.
    static func methodNotFound(id: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("jsonrpc", string: "2.0", into: &bytes)
        writer.member("id", raw: id, into: &bytes)
        writer.key("error", into: &bytes)
        writer.beginObject(into: &bytes)
        writer.member("code", integer: -32_601, into: &bytes)
        writer.member("message", string: "Method not found", into: &bytes)
        writer.endObject(into: &bytes)
        writer.endObject(into: &bytes)
        return bytes
    }

    private static func text(
        _ key: String, _ value: String?, _ writer: inout JSONWriter, _ bytes: inout [UInt8]
    ) {
        if let value {
            writer.member(key, string: value, into: &bytes)
        } else {
            writer.member(null: key, into: &bytes)
        }
    }

    private static func request(
        id: Int, method: String, params: (inout JSONWriter, inout [UInt8]) -> Void
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("jsonrpc", string: "2.0", into: &bytes)
        writer.member("id", integer: id, into: &bytes)
        writer.member("method", string: method, into: &bytes)
        writer.key("params", into: &bytes)
        writer.beginObject(into: &bytes)
        params(&writer, &bytes)
        writer.endObject(into: &bytes)
        writer.endObject(into: &bytes)
        return bytes
    }
}
