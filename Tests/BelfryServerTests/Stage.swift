import BelfryAccess
import BelfryWire
import Testing

@testable import BelfryServer

/// The door through which a client acts.
enum Door: String, CaseIterable {
    case http
    case webSocket
}

/// One setting in which every rule must hold: a door, and one loop or two.
struct Scene: CustomTestStringConvertible, Sendable {
    let door: Door
    let loopCount: Int

    static let all = [1, 2].flatMap { count in
        Door.allCases.map { Scene(door: $0, loopCount: count) }
    }

    var testDescription: String { "\(door.rawValue), \(loopCount == 1 ? "one loop" : "two loops")" }
}

/// The result of a request.
struct Account {
    let status: Int
    let json: Value

    var isRefused: Bool { status >= 400 }
    /// The place of the first field error.
    var place: String? {
        json["errors"][0]["pointer"].text ?? json["errors"][0]["parameter"].text
    }
}

/// A broker with two observing clients and a poster.
///
/// With two loops the center lives on the first, and X and the poster are on the second: what they
/// ask for and what X gets crosses loops both ways.
final class Stage {
    let broker: Broker
    let door: Door
    let x: SocketPeer
    let y: SocketPeer
    let poster: SocketPeer
    let postLoop: Int

    init(_ scene: Scene, _ adjust: (inout ServerConfiguration) -> Void = { _ in }) throws {
        broker = try Broker(loopCount: scene.loopCount, adjust)
        door = scene.door
        postLoop = scene.loopCount - 1
        x = try broker.webSocket(loop: postLoop)
        y = try broker.webSocket(loop: 0)
        poster = try broker.webSocket(loop: postLoop)
    }

    /// Posts a notification.
    @discardableResult
    func post(
        _ name: String, _ object: String? = nil, userInfo: String? = nil, causedBy: String? = nil
    ) throws -> Account {
        var members = [#""name":"\#(name)""#]
        if let object { members.append(#""object":"\#(object)""#) }
        if let userInfo { members.append(#""userInfo":\#(userInfo)"#) }
        if let causedBy { members.append(#""causedBy":"\#(causedBy)""#) }
        return try post(json: "{" + members.joined(separator: ",") + "}")
    }

    /// Posts what may be no notification.
    func post(json: String) throws -> Account {
        switch door {
        case .http:
            let response = try broker.post(json, loop: postLoop)
            return Account(status: response.status, json: response.json)
        case .webSocket:
            return Self.account(try poster.answer("post", json))
        }
    }

    /// Registers an observer of a client.
    @discardableResult
    func observe(
        _ peer: SocketPeer, _ name: String?, _ object: String? = nil, selector: String = "notify"
    ) throws -> Account {
        let name = name.map { "\"\($0)\"" } ?? "null"
        let object = object.map { "\"\($0)\"" } ?? "null"
        return try register(
            peer, #""name":\#(name),"object":\#(object),"selector":"\#(selector)""#)
    }

    /// Registers an observer that may be invalid; the members are without braces.
    func register(_ peer: SocketPeer, _ members: String) throws -> Account {
        switch door {
        case .http:
            let comma = members.isEmpty ? "" : ","
            let body = #"{\#(members)\#(comma)"session":"\#(peer.session)"}"#
            let response = try broker.post(body, target: "/v1/observers", loop: postLoop)
            return Account(status: response.status, json: response.json)
        case .webSocket:
            return Self.account(try peer.answer("addObserver", "{\(members)}"))
        }
    }

    /// Removes an observer by its token: by HTTP, or as another client.
    func remove(_ token: Value) throws -> Account {
        let token = token.text ?? "?"
        switch door {
        case .http:
            let response = try broker.request("DELETE", "/v1/observers/\(token)", loop: postLoop)
            return Account(status: response.status, json: response.json)
        case .webSocket:
            return Self.account(
                try poster.answer("removeObserver", #"{"token":"\#(token)"}"#))
        }
    }

    /// Explains the observers of a notification.
    func explain(_ name: String, _ object: String? = nil) throws -> Value {
        switch door {
        case .http:
            let query = object.map { "&object=\($0)" } ?? ""
            return try broker.get("/v1/explain?name=\(name)\(query)", loop: postLoop).json
        case .webSocket:
            let member = object.map { #","object":"\#($0)""# } ?? ""
            return try poster.result("explain", #"{"name":"\#(name)"\#(member)}"#)
        }
    }

    /// Lists the observers.
    func observers() throws -> [Value] {
        switch door {
        case .http: try broker.get("/v1/observers", loop: postLoop).json["observers"].elements
        case .webSocket: try poster.result("observers")["observers"].elements
        }
    }

    static func account(_ answer: Value) -> Account {
        if answer.has("result") { return Account(status: 200, json: answer["result"]) }
        let problem = answer["error"]["data"]
        return Account(status: problem["status"].int ?? 0, json: problem)
    }
}
