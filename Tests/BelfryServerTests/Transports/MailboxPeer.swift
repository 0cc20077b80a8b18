import Testing

@testable import BelfryServer

/// A mailbox, and the peers that read it.
struct MailboxPeer {
    let broker: Broker
    let row: Value
    let loop: Int

    init(_ broker: Broker, _ members: String = #""name":"a""#, loop: Int = 0) throws {
        self.broker = broker
        self.loop = loop
        let response = try broker.post("{\(members)}", target: "/v1/observers", loop: loop)
        try #require(response.status == 201, "\(response.text)")
        row = response.json
    }

    var token: String { row["token"].text ?? "" }
    var path: String { "/v1/observers/\(token)/notifications" }

    func read(_ query: String = "", fields: [String] = []) throws -> Response {
        try broker.get(path + query, fields: fields, loop: loop)
    }

    /// Begins a long poll.
    func poll(_ query: String = "", wait: Int = 10) throws -> HTTPPeer {
        let peer = try broker.http(loop: loop)
        try peer.send(HTTPPeer.text("GET", path + query, fields: ["Prefer: wait=\(wait)"]))
        return peer
    }

    func state() throws -> Value {
        try broker.get("/v1/observers/\(row["id"].text ?? "")")
            .json["state"]
    }
}
