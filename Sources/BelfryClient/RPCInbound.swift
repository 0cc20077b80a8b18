internal import BelfryJSON

/// A message of a broker, as JSON-RPC 2.0 text.
enum RPCInbound: Equatable, Sendable {
    /// The answer to the request with this id, as JSON.
    case result(id: Int, [UInt8])
    /// The refusal of the request with this id; without one, of what could not be read.
    case failure(id: Int?, BrokerRefusal)
    /// A delivery, or a notice whose method begins with `belfry.`; the params are JSON.
    case notice(method: [UInt8], params: [UInt8])
    /// A delivery that wants an answer with the same id; the id and the params are JSON.
    case request(id: [UInt8], method: [UInt8], params: [UInt8])

    private static let keys = JSONKeyTable(["id", "method", "params", "result", "error"])

    /// Reads a message.
    ///
    /// - Throws: `ClientError.notUnderstood`.
    init(_ message: [UInt8]) throws(ClientError) {
        var parts = [Range<Int>?](repeating: nil, count: 5)
        var method: [UInt8]?
        do {
            var reader = JSONReader(depthLimit: JSONObject.depthLimit)
            try reader.beginObject(in: message.span)
            while try reader.nextMember(in: message.span) {
                let ordinal = Self.keys.ordinal(of: reader.key)
                if ordinal == 1 {
                    method = try reader.readString(in: message.span)
                } else {
                    let range = try reader.skipValue(in: message.span)
                    if let ordinal { parts[ordinal] = range }
                }
            }
            try reader.finish(in: message.span)
        } catch {
            throw .notUnderstood
        }
        let id = parts[0].map { Array(message[$0]) }
        if let method {
            let params = parts[2].map { Array(message[$0]) } ?? Array("{}".utf8)
            if let id {
                self = .request(id: id, method: method, params: params)
            } else {
                self = .notice(method: method, params: params)
            }
            return
        }
        let number = id.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        if let error = parts[4] {
            self = .failure(id: number, try BrokerRefusal(json: Array(message[error])))
        } else if let number, let result = parts[3] {
            self = .result(id: number, Array(message[result]))
        } else {
            throw .notUnderstood
        }
    }
}

extension BrokerRefusal {
    /// Reads an error of JSON-RPC with its problem document.
    init(json: [UInt8]) throws(ClientError) {
        guard let members = JSONObject(json), let code = members.integer("code") else {
            throw .notUnderstood
        }
        let problem = members.raw("data").flatMap(JSONObject.init)
        self.init(
            code: code,
            text: problem?.string("detail") ?? problem?.string("title")
                ?? members.string("message") ?? "",
            status: problem?.integer("status"), problem: problem?.json ?? [])
    }

    /// Reads the problem document of an HTTP answer, which may be none.
    package init(status: Int, content: [UInt8]) {
        let problem = JSONObject(content)
        self.init(
            code: -32_000,
            text: problem?.string("detail") ?? problem?.string("title")
                ?? "the broker answered \(status)",
            status: status, problem: problem?.json ?? [])
    }
}
