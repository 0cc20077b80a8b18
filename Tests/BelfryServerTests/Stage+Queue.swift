import BelfryLoop
import Testing

@testable import BelfryServer

/// A post as JSON; `more` are members that begin with a comma.
func json(
    _ style: String?, _ name: String, _ object: String? = "o", k: Int? = nil, more: String = ""
) -> String {
    var members = [#""name":"\#(name)""#]
    if let style { members.append(#""style":"\#(style)""#) }
    if let object { members.append(#""object":"\#(object)""#) }
    if let k { members.append(#""userInfo":{"k":\#(k)}"#) }
    return "{" + members.joined(separator: ",") + more + "}"
}

func asap(_ name: String, _ object: String? = "o", k: Int? = nil, more: String = "") -> String {
    json("asap", name, object, k: k, more: more)
}

func idle(_ name: String, _ object: String? = "o", k: Int? = nil, more: String = "") -> String {
    json("idle", name, object, k: k, more: more)
}

func now(_ name: String, _ object: String? = "o", k: Int? = nil, more: String = "") -> String {
    json("now", name, object, k: k, more: more)
}

// The verbs of the queue and of suspension in the cases, through both doors.
extension Stage {
    /// A stage whose client X observes everything.
    static func watched(_ scene: Scene) throws -> Stage {
        let stage = try Stage(scene)
        try stage.observe(stage.x, nil)
        return stage
    }

    /// BATCH: several posts in one callout; their receipts.
    @discardableResult
    func batch(_ posts: String...) throws -> [Value] {
        switch door {
        case .http:
            let response = try broker.post("[" + posts.joined(separator: ",") + "]", loop: postLoop)
            try #require(response.status == 200, "\(response.text)")
            return response.json["receipts"].elements
        case .webSocket:
            let calls = posts.map { poster.call("post", $0) }
            try poster.send("[" + calls.joined(separator: ",") + "]")
            let answers = try poster.takeMessages().flatMap { $0.elements }
            try #require(answers.count == posts.count)
            return answers.map { $0["result"] }
        }
    }

    /// MODE: enters a mode; the token of its lease.
    func enter(_ mode: String) throws -> String {
        switch door {
        case .http:
            let response = try broker.post(
                #"{"mode":"\#(mode)"}"#, target: "/v1/modes", loop: postLoop)
            try #require(response.status == 201, "\(response.text)")
            return response.json["token"].text ?? ""
        case .webSocket:
            return try poster.result("enterMode", #"{"mode":"\#(mode)"}"#)["token"].text ?? ""
        }
    }

    /// LEAVE: leaves a mode; the status.
    @discardableResult
    func leave(_ token: String) throws -> Int {
        switch door {
        case .http:
            return try broker.request("DELETE", "/v1/modes/\(token)", loop: postLoop).status
        case .webSocket:
            let answer = try poster.answer("leaveMode", #"{"token":"\#(token)"}"#)
            return answer.has("result") ? 204 : answer["error"]["data"]["status"].int ?? 0
        }
    }

    /// DEQ: takes entries out of the queue.
    func dequeue(
        name: String? = nil, object: String? = nil, coalesce: String? = nil
    ) throws -> Account {
        let fields = [("name", name), ("object", object)].compactMap { key, value in
            value.map { (key, $0) }
        }
        switch door {
        case .http:
            let query =
                (fields.map { "\($0)=\($1)" } + (coalesce.map { ["coalesce=\($0)"] } ?? []))
                .joined(separator: "&")
            let response = try broker.request("DELETE", "/v1/queue?\(query)", loop: postLoop)
            return Account(status: response.status, json: response.json)
        case .webSocket:
            var members = fields.map { #""\#($0)":"\#($1)""# }
            if let coalesce {
                let words = coalesce.split(separator: ",").map { "\"\($0)\"" }
                members.append(#""coalesce":[\#(words.joined(separator: ","))]"#)
            }
            return Self.account(
                try poster.answer("dequeue", "{" + members.joined(separator: ",") + "}"))
        }
    }

    /// The queue, as it is listed.
    func queue() throws -> [Value] {
        try broker.get("/v1/queue", loop: postLoop).json["entries"].elements
    }

    /// SUSP and RES: suspends a client, or lets it go on.
    func suspend(_ peer: SocketPeer, _ isSuspended: Bool = true) throws {
        switch door {
        case .http:
            let response = try broker.request(
                "PATCH", "/v1/clients/\(peer.client)", #"{"suspended":\#(isSuspended)}"#,
                fields: ["Content-Type: application/json", "Belfry-Session: \(peer.session)"],
                loop: postLoop)
            try #require(response.status == 200, "\(response.text)")
        case .webSocket:
            try peer.result("setSuspended", #"{"suspended":\#(isSuspended)}"#)
        }
    }

    /// Registers an observer with terms; the members begin with a comma.
    @discardableResult
    func observe(
        _ peer: SocketPeer, _ name: String?, _ object: String?, terms: String
    ) throws -> Value {
        let name = name.map { "\"\($0)\"" } ?? "null"
        let object = object.map { "\"\($0)\"" } ?? "null"
        let account = try register(peer, #""name":\#(name),"object":\#(object)\#(terms)"#)
        try #require(!account.isRefused, "\(account.json)")
        return account.json
    }

    /// BACK: a new connection resumes the client of an earlier one.
    func back(_ peer: SocketPeer, more: String = "", loop: Int? = nil) throws -> SocketPeer {
        let newcomer = try broker.webSocket(loop: loop ?? postLoop)
        try newcomer.result("resume", #"{"session":"\#(peer.session)"\#(more)}"#)
        return newcomer
    }
}

extension SocketPeer {
    /// CUT: the connection ends, and nothing is said.
    func cut() throws {
        peer.close()
        try broker.crank()
    }

    /// Takes the notifications that have arrived, each as its name and the `k` of its userInfo.
    func takeKeys() throws -> [String] {
        try takeNotifications().map(\.key)
    }

    /// Takes the gaps that have arrived, each as its reason and its count.
    func takeGaps() throws -> [String] {
        try takeMessages(where: { $0["method"] == "belfry.gap" }).map { gap in
            let lost = gap["params"]["lost"].int.map(String.init) ?? "?"
            return "\(gap["params"]["reason"].text ?? "?") \(lost)"
        }
    }
}

extension Value {
    /// A notification as its name and the `k` of its userInfo.
    var key: String {
        (self["name"].text ?? "?") + (self["userInfo"]["k"].int.map(String.init) ?? "")
    }

    /// A notification as its name and its object.
    var kind: String {
        (self["name"].text ?? "?") + "/" + (self["object"].text ?? "null")
    }
}
