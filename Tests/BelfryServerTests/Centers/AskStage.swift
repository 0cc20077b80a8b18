import Testing

@testable import BelfryServer

/// A broker with two clients that may answer, and one that asks.
///
/// With two loops the center lives on the first, and D and the asker are on the second.
final class AskStage {
    let broker: Broker
    let d: SocketPeer
    let e: SocketPeer
    let asker: SocketPeer
    let loop: Int

    init(loopCount: Int = 1, _ adjust: (inout ServerConfiguration) -> Void = { _ in }) throws {
        broker = try Broker(loopCount: loopCount, adjust)
        loop = loopCount - 1
        d = try broker.webSocket(loop: loop)
        e = try broker.webSocket(loop: 0)
        asker = try broker.webSocket(loop: loop)
    }

    /// Makes a client a responder.
    @discardableResult
    func respond(
        _ peer: SocketPeer, _ object: String, _ selectors: [String], _ members: String = ""
    ) throws -> Value {
        try peer.result("addObserver", Self.registration(object, selectors, members))
    }

    /// The content of a registration.
    static func registration(
        _ object: String, _ selectors: [String], _ members: String = ""
    ) -> String {
        let list = selectors.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"object":"\#(object)","implements":[\#(list)]\#(members)}"#
    }

    /// Asks over HTTP, and does not wait for the answer.
    func begin(
        _ object: String, _ selector: String, _ query: String = "", _ body: String = "",
        fields: [String] = []
    ) throws -> HTTPPeer {
        let peer = try broker.http(loop: loop)
        let target = "/v1/responders/\(object)/\(selector)" + (query.isEmpty ? "" : "?\(query)")
        try peer.send(HTTPPeer.text("POST", target, body, fields: fields))
        return peer
    }

    /// Asks over HTTP what is answered at once.
    func ask(
        _ object: String, _ selector: String, _ query: String = "", _ body: String = "",
        fields: [String] = []
    ) throws -> Response {
        let answer = try begin(object, selector, query, body, fields: fields).read()
        return try #require(answer)
    }

    /// Takes the asks that a client was shown.
    func asks(_ peer: SocketPeer) throws -> [Value] {
        try peer.takeMessages(where: { $0.has("method") && $0.has("id") })
    }

    /// Takes what a client was told of asks that are over: reasons.
    func settlements(_ peer: SocketPeer) throws -> [String] {
        try peer.takeMessages(where: { $0["method"] == "belfry.settled" })
            .map { $0["params"]["reason"].text ?? "?" }
    }

    /// Takes the one ask that a client was shown, and answers it.
    @discardableResult
    func answer(_ peer: SocketPeer, _ result: String) throws -> Value {
        try reply(peer, #""result":\#(result)"#)
    }

    /// Takes the one ask that a client was shown, and hands it on.
    @discardableResult
    func pass(_ peer: SocketPeer) throws -> Value {
        try reply(peer, #""error":{"code":-32601,"message":"not me"}"#)
    }

    /// Takes the one ask that a client was shown, and responds to it.
    @discardableResult
    func reply(_ peer: SocketPeer, _ member: String) throws -> Value {
        let asks = try asks(peer)
        try #require(asks.count == 1, "\(asks)")
        try peer.send(#"{"jsonrpc":"2.0","id":"\#(asks[0]["id"].text ?? "")",\#(member)}"#)
        return asks[0]
    }
}
