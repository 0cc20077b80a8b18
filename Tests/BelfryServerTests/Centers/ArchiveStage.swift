import BelfryAccess
import Testing

@testable import BelfryServer

extension Stage {
    /// The grants of callers who may do everything.
    static let allGrants = Grants([Grant(.all)])

    /// A stage on which everybody may do everything.
    static func archiving(
        _ scene: Scene = Scene(door: .http, loopCount: 1),
        _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> Stage {
        try Stage(scene) {
            $0.anonymousGrants = allGrants
            adjust(&$0)
        }
    }

    /// Makes an archive of a channel, or with `prefix` of all channels that begin so.
    @discardableResult
    func archive(_ name: String, _ terms: String = "{}", prefix: Bool = false) throws -> Response {
        try broker.request(
            "PUT", "/v1/archives/\(name)\(prefix ? "?prefix=true" : "")", terms,
            fields: ["Content-Type: application/json"], loop: postLoop)
    }

    /// Reads a page of the past.
    func past(_ query: String) throws -> Response {
        try broker.get("/v1/notifications?\(query)", loop: postLoop)
    }

    /// The values of `n` that a page has.
    func numbers(_ query: String) throws -> [Int] {
        Self.numbers(try past(query).json["notifications"].elements)
    }

    /// Posts `n` from 1 on, and returns the receipts.
    @discardableResult
    func post(_ name: String, _ object: String? = nil, count: Int) throws -> [Account] {
        try (1...count).map { try post(name, object, userInfo: #"{"n":\#($0)}"#) }
    }

    /// The messages that a client got: `n` of each notification, and `gap FIRST LAST` of each gap.
    func seen(by peer: SocketPeer) throws -> [String] {
        try peer.takeMessages().compactMap { message in
            let params = message["params"]
            switch message["method"].text {
            case "notify":
                let mark = params["redelivered"] == true ? "" : " live"
                return "\(params["userInfo"]["n"].int ?? -1)\(mark)"
            case "belfry.gap":
                return "gap \(params["reason"].text ?? "?") \(params["firstSeq"].int ?? -1)"
                    + " \(params["lastSeq"].int ?? -1)"
            default: return nil
            }
        }
    }

    static func numbers(_ notifications: [Value]) -> [Int] {
        notifications.compactMap { $0["userInfo"]["n"].int }
    }
}
