internal import BelfryJSON

/// The answer to an ask, or the state of one that is open (Protocol.md section 12).
public struct AskAnswer: Equatable, Sendable {
    /// The source of an answer.
    public enum Source: Equatable, Sendable {
        /// The responder with this id.
        case responder(observer: String)
        /// The default of the asker; the reason is the slug of a problem, such as `no-responder`.
        case fallback(reason: String)
        /// The default, given by this client itself (`AskOptions.failsClosed`).
        ///
        /// The reason is the slug of a problem of the broker, or a sentence.
        case asker(reason: String)
        /// The ask is not answered yet.
        case open
        /// The ask was withdrawn.
        case withdrawn
    }

    /// The identifier of the ask; empty where this client has answered itself.
    public let id: String
    /// The answer as JSON text; empty where there is none.
    public let json: [UInt8]
    /// The source of the answer.
    public let source: Source
    /// The addresses that were asked, in that order.
    public let path: [String]
    /// The principal of the answerer, where the broker names it.
    public let answeredBy: String?
    /// The reason for the answer: the answerer's own words, or for a default those of its source.
    public let reason: String?
    /// The whole answer as the broker wrote it.
    package let content: [UInt8]

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
        let answer = members.raw("answer")
        switch (members.string("by"), members.string("outcome") ?? members.string("state")) {
        case ("responder", _) where answer != nil:
            source = .responder(observer: members.string("observer") ?? "")
        case ("default", _) where answer != nil:
            source = .fallback(reason: members.string("reason") ?? "")
        case (nil, "asked"): source = .open
        case (nil, "withdrawn"): source = .withdrawn
        default: throw .notUnderstood
        }
        self.id = id
        self.json = answer ?? []
        path = members.strings("path")
        answeredBy = members.string("answeredBy")
        reason = members.string("reason")
        content = json
    }

    /// Makes the state of an ask that has no answer: it is open, as far as is known, or withdrawn.
    init(id: String, _ source: Source) {
        self.id = id
        self.source = source
        (json, path, answeredBy, reason) = ([], [], nil, nil)
        content = RPCRequest.params { writer, bytes in
            writer.member("id", string: id, into: &bytes)
            let state = source == .open ? "asked" : "withdrawn"
            writer.member("state", string: state, into: &bytes)
        }
    }

    /// Makes the default that the asker gives itself.
    package init(byAsker fallback: String, reason: String) {
        (id, path, answeredBy) = ("", [], nil)
        source = .asker(reason: reason)
        self.reason = reason
        let answer = Array(fallback.utf8)
        json = answer
        content = RPCRequest.params { writer, bytes in
            writer.member("answer", raw: answer, into: &bytes)
            writer.member("by", string: "asker", into: &bytes)
            writer.member("reason", string: reason, into: &bytes)
        }
    }
}
