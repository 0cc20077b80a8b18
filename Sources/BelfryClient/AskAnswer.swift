/// The answer to an ask, or the state of one that is open (Protocol.md section 12).
public struct AskAnswer: Equatable, Sendable {
    /// The source of an answer.
    public enum Source: Equatable, Sendable {
        /// The responder with this id.
        case responder(observer: String)
        /// The default of the asker; the reason is the slug of a problem, such as `no-responder`.
        case fallback(reason: String)
        /// The ask has a time to live, and is not answered yet.
        case open
        /// The ask was withdrawn.
        case withdrawn
    }

    /// The identifier of the ask.
    public let id: String
    /// The answer as JSON text; empty where there is none.
    public let json: [UInt8]
    /// The source of the answer.
    public let source: Source
    /// The addresses that were asked, in that order.
    public let path: [String]

    /// The answer as JSON text.
    public var text: String {
        String(decoding: json, as: UTF8.self)
    }
}

extension AskAnswer {
    /// Reads the answer to an ask, or its fate.
    ///
    /// - Throws: `ClientError.refused` for a fate that is a failure.
    init(json: [UInt8]) throws(ClientError) {
        guard let members = JSONObject(json), let id = members.string("id") else {
            throw .notUnderstood
        }
        if let problem = members.raw("problem") {
            let status = JSONObject(problem)?.integer("status") ?? 0
            throw .refused(BrokerRefusal(status: status, content: problem))
        }
        switch (members.string("by"), members.string("outcome") ?? members.string("state")) {
        case ("responder", _): source = .responder(observer: members.string("observer") ?? "")
        case ("default", _): source = .fallback(reason: members.string("reason") ?? "")
        case (nil, "asked"): source = .open
        case (nil, "withdrawn"): source = .withdrawn
        default: throw .notUnderstood
        }
        self.id = id
        self.json = members.raw("answer") ?? []
        path = members.strings("path")
    }
}
