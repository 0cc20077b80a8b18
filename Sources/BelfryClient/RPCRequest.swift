internal import BelfryJSON

/// The JSON-RPC requests and answers that a client sends, each as one text message.
enum RPCRequest {
    static func addObserver(id: Int, _ wish: ObserverWish, since: Beginning?) -> [UInt8] {
        request(id: id, method: "addObserver") { writer, bytes in
            if let desk = wish.desk {
                text("object", wish.filter.object, &writer, &bytes)
                return desk.options.write(&writer, &bytes)
            }
            if let place = wish.place {
                text("object", wish.filter.object, &writer, &bytes)
                writer.member("keyPath", string: place.keyPath, into: &bytes)
                place.options.write(&writer, &bytes)
            } else {
                wish.filter.write(&writer, &bytes)
            }
            if let action = wish.action {
                writer.member("target", string: action.target, into: &bytes)
            }
            let selector = wish.action?.selector ?? wish.selector
            writer.member("selector", string: selector, into: &bytes)
            wish.options.write(&writer, &bytes)
            since?.write(&writer, &bytes)
        }
    }

    static func removeObserver(id: Int, token: String) -> [UInt8] {
        request(id: id, method: "removeObserver") { writer, bytes in
            writer.member("token", string: token, into: &bytes)
        }
    }

    /// Removes an observer of this client whose token is not known.
    static func removeObserver(id: Int, observer: String) -> [UInt8] {
        request(id: id, method: "removeObserver") { writer, bytes in
            writer.member("observer", string: observer, into: &bytes)
        }
    }

    static func resume(id: Int, session: String, after: UInt64?, epoch: String) -> [UInt8] {
        request(id: id, method: "resume") { writer, bytes in
            writer.member("session", string: session, into: &bytes)
            if let after { writer.member("after", integer: after, into: &bytes) }
            writer.member("epoch", string: epoch, into: &bytes)
        }
    }

    static func setSuspended(id: Int, _ isSuspended: Bool) -> [UInt8] {
        request(id: id, method: "setSuspended") { writer, bytes in
            writer.member("suspended", bool: isSuspended, into: &bytes)
        }
    }

    static func post(id: Int, _ wish: PostWish) -> [UInt8] {
        request(id: id, method: "post") { writer, bytes in
            wish.write(&writer, &bytes)
            wish.options.writeCall(&writer, &bytes)
        }
    }

    /// A request whose params are JSON already.
    static func call(id: Int, method: String, params: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = begin(id: id, method: method, into: &bytes)
        writer.raw(params, into: &bytes)
        writer.endObject(into: &bytes)
        return bytes
    }

    /// The params of a call.
    static func params(_ members: (inout JSONWriter, inout [UInt8]) -> Void) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        members(&writer, &bytes)
        writer.endObject(into: &bytes)
        return bytes
    }

    /// The answer to a delivery or to an ask.
    static func answer(id: [UInt8], _ response: DeliveryResponse) -> [UInt8] {
        switch response {
        case .result(let json):
            params { writer, bytes in
                writer.member("jsonrpc", string: "2.0", into: &bytes)
                writer.member("id", raw: id, into: &bytes)
                writer.member("result", raw: json, into: &bytes)
            }
        case .refused(let reason): error(id: id, code: refusalCode, reason)
        case .passed: methodNotFound(id: id)
        }
    }

    /// The code of a refusal; codes of JSON-RPC itself are below zero.
    private static let refusalCode = 1

    /// The answer to a request of the broker that is no delivery, and to an ask that is handed on.
    static func methodNotFound(id: [UInt8]) -> [UInt8] {
        error(id: id, code: -32_601, "Method not found")
    }

    private static func error(id: [UInt8], code: Int, _ text: String) -> [UInt8] {
        params { writer, bytes in
            writer.member("jsonrpc", string: "2.0", into: &bytes)
            writer.member("id", raw: id, into: &bytes)
            writer.key("error", into: &bytes)
            writer.beginObject(into: &bytes)
            writer.member("code", integer: code, into: &bytes)
            writer.member("message", string: text, into: &bytes)
            writer.endObject(into: &bytes)
        }
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
        var writer = begin(id: id, method: method, into: &bytes)
        writer.beginObject(into: &bytes)
        params(&writer, &bytes)
        writer.endObject(into: &bytes)
        writer.endObject(into: &bytes)
        return bytes
    }

    /// Begins a request up to its params.
    private static func begin(id: Int, method: String, into bytes: inout [UInt8]) -> JSONWriter {
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("jsonrpc", string: "2.0", into: &bytes)
        writer.member("id", integer: id, into: &bytes)
        writer.member("method", string: method, into: &bytes)
        writer.key("params", into: &bytes)
        return writer
    }
}
