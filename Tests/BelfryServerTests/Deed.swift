import BelfryAccess
import BelfryHTTP
import BelfryWebSocket
import Synchronization
import Testing

@testable import BelfryServer

/// Something that can be asked, with the verbs that it takes.
struct Deed: CustomTestStringConvertible, Sendable {
    /// The verbs that it takes, all of them.
    let verbs: [String]
    /// Another verb that does as well.
    var alternative: String?
    /// The status for a lack of permission: 404 for objects of others.
    var refused = 403
    /// The status with permission, for a deed that cannot succeed.
    var impossible: Int?
    /// Method, target and content of the request.
    ///
    /// `{entry}`, `{ask}`, `{observer}`, `{client}` and `{mode}` are another client's.
    var http: (method: String, target: String, content: String?)?
    /// Method and params of the call.
    var call: (method: String, params: String)?

    var testDescription: String {
        [http.map { "\($0.method) \($0.target)" }, call.map { "\($0.method) \($0.params)" }]
            .compactMap { $0 }.joined(separator: ", ")
    }

    static let all: [Deed] = [
        Deed(verbs: ["post"], http: ("POST", "/v1/channels/Mail?object=me", "{}")),
        Deed(
            verbs: ["post"], http: ("POST", "/v1/notifications", #"{"name":"Mail","object":"me"}"#),
            call: ("post", #"{"name":"Mail","object":"me"}"#)),
        Deed(
            verbs: ["post"],
            http: ("POST", "/v1/notifications", #"[{"name":"Mail","object":"me"}]"#)),
        Deed(
            verbs: ["post", "immediate"],
            http: ("POST", "/v1/channels/Mail?object=me&immediate=true", ""),
            call: ("post", #"{"name":"Mail","object":"me","immediate":true}"#)),
        Deed(
            verbs: ["post", "forever"],
            http: ("POST", "/v1/channels/Mail?object=me&every=1&lease=null", ""),
            call: ("post", #"{"name":"Mail","object":"me","every":1,"lease":null}"#)),
        Deed(
            verbs: ["post"], http: ("DELETE", "/v1/queue?name=Mail", nil),
            call: ("dequeue", #"{"name":"Mail"}"#)),
        Deed(
            verbs: ["observe"], http: ("POST", "/v1/observers", #"{"name":"Mail","object":"me"}"#),
            call: ("addObserver", #"{"name":"Mail","object":"me"}"#)),
        Deed(
            verbs: ["observe", "forever"],
            http: ("POST", "/v1/observers", #"{"name":"Mail","object":"me","lease":null}"#),
            call: ("addObserver", #"{"name":"Mail","object":"me","lease":null}"#)),
        Deed(
            verbs: ["observe", "acknowledge"],
            call: ("addObserver", #"{"name":"Mail","object":"me","acknowledge":true}"#)),
        Deed(
            verbs: ["respond"],
            http: ("POST", "/v1/observers", #"{"object":"me","implements":["Mail"]}"#),
            call: ("addObserver", #"{"object":"me","implements":["Mail"]}"#)),
        Deed(
            verbs: ["ask"], http: ("POST", "/v1/responders/me/Mail?default=1", ""),
            call: ("ask", #"{"object":"me","selector":"Mail","default":1}"#)),
        Deed(
            verbs: ["set"], http: ("PUT", "/v1/values/me/Mail", "1"),
            call: ("setValue", #"{"object":"me","keyPath":"Mail","value":1}"#)),
        Deed(
            verbs: ["set"], http: ("PATCH", "/v1/values/me/Mail", #"{"a":1}"#),
            call: ("mergeValue", #"{"object":"me","keyPath":"Mail","patch":{"a":1}}"#)),
        Deed(
            verbs: ["set"], impossible: 404, http: ("DELETE", "/v1/values/me/Mail", nil),
            call: ("removeValue", #"{"object":"me","keyPath":"Mail"}"#)),
        Deed(
            verbs: ["read"], impossible: 404, http: ("GET", "/v1/values/me/Mail", nil),
            call: ("value", #"{"object":"me","keyPath":"Mail"}"#)),
        Deed(
            verbs: ["read"], http: ("POST", "/v1/observers", #"{"object":"me","keyPath":"Mail"}"#),
            call: ("addObserver", #"{"object":"me","keyPath":"Mail"}"#)),
        Deed(verbs: ["read"], http: ("GET", "/v1/events?object=me&keyPath=Mail", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/values", nil)),
        Deed(verbs: ["modes"], http: ("POST", "/v1/modes", #"{"mode":"held"}"#)),
        Deed(verbs: ["modes"], call: ("enterMode", #"{"mode":"held"}"#)),
        Deed(
            verbs: ["inspect"], http: ("GET", "/v1/observers", nil), call: ("observers", "{}")),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/responders", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/asks", nil)),
        Deed(
            verbs: ["inspect"], http: ("GET", "/v1/explain?object=me&selector=Mail", nil),
            call: ("explain", #"{"object":"me","selector":"Mail"}"#)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/clients", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/channels", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/queue", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/modes", nil)),
        Deed(
            verbs: ["inspect"], http: ("POST", "/v1/explain", #"{"name":"Mail","userInfo":{}}"#),
            call: ("explain", #"{"name":"Mail","userInfo":{}}"#)),
        Deed(
            verbs: ["inspect"], http: ("GET", "/v1/explain?name=Mail", nil),
            call: ("explain", #"{"name":"Mail"}"#)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/reports/leaks", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/reports/unmatched", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/metrics", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/overview", nil)),
        // The broker of the tests takes part in no cluster.
        Deed(verbs: ["inspect"], impossible: 404, http: ("GET", "/v1/cluster", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/centers/default/overview", nil)),
        Deed(
            verbs: ["post"], alternative: "inspect",
            http: ("GET", "/v1/notifications/{entry}", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/queue/{entry}", nil)),
        Deed(verbs: ["post"], http: ("DELETE", "/v1/queue/{entry}", nil)),
        Deed(verbs: ["observe"], http: ("GET", "/v1/events?name=Mail&object=me", nil)),
        Deed(
            verbs: ["observe"], impossible: 404,
            http: ("GET", "/v1/notifications?name=Mail&object=me", nil)),
        Deed(verbs: ["admin"], http: ("DELETE", "/v1/notifications?name=Mail&object=me", nil)),
        Deed(verbs: ["inspect"], http: ("GET", "/v1/archives", nil)),
        Deed(
            verbs: ["inspect"], refused: 404, impossible: 404,
            http: ("GET", "/v1/archives/Mail", nil)),
        Deed(verbs: ["inspect"], refused: 404, http: ("GET", "/v1/observers/{observer}", nil)),
        Deed(verbs: ["admin"], refused: 404, http: ("DELETE", "/v1/observers/{observer}", nil)),
        Deed(verbs: ["inspect"], refused: 404, http: ("GET", "/v1/notifications/{ask}", nil)),
        Deed(verbs: ["admin"], refused: 404, http: ("DELETE", "/v1/notifications/{ask}", nil)),
    ]

    /// Deeds that need verbs on everything, because they name nothing.
    static let unnamed: [Deed] = [
        Deed(verbs: ["admin"], http: ("PUT", "/v1/archives/Mail", "{}")),
        Deed(verbs: ["admin"], impossible: 404, http: ("DELETE", "/v1/archives/Post", nil)),
        Deed(
            verbs: ["observe", "wildcard"], http: ("POST", "/v1/observers", "{}"),
            call: ("addObserver", #"{"name":null}"#)),
        Deed(
            verbs: ["observe", "inspect"],
            http: ("POST", "/v1/observers", #"{"name":"belfry.client.left"}"#),
            call: ("addObserver", #"{"name":"belfry.client.left"}"#)),
        Deed(
            verbs: ["inspect"],
            http: ("POST", "/v1/observers", #"{"name":"belfry.channel.observed"}"#),
            call: ("addObserver", #"{"name":"belfry.channel.unobserved"}"#)),
        Deed(
            verbs: ["inspect"], alternative: "post",
            http: ("POST", "/v1/observers", #"{"name":"belfry.channel.observed","object":"Mail"}"#),
            call: ("addObserver", #"{"name":"belfry.channel.observed","object":"Mail"}"#)),
        Deed(
            verbs: ["respond"],
            http: ("POST", "/v1/observers", #"{"object":"me","implements":[]}"#)),
        Deed(
            verbs: ["observe", "ask"],
            http: (
                "POST", "/v1/observers",
                #"{"name":"Mail","object":"me","target":"you","selector":"open"}"#
            ),
            call: (
                "addObserver", #"{"name":"Mail","object":"me","target":"you","selector":"open"}"#
            )),
        Deed(
            verbs: ["respond", "ask"],
            http: ("POST", "/v1/observers", #"{"object":"me","implements":["Mail"],"next":"you"}"#),
            call: ("addObserver", #"{"object":"me","implements":["Mail"],"next":"you"}"#)),
        Deed(verbs: ["set"], http: ("PUT", "/v1/values/me", "{}")),
        Deed(verbs: ["set"], http: ("PATCH", "/v1/values/me", "{}")),
        Deed(verbs: ["set"], impossible: 404, http: ("DELETE", "/v1/values/me", nil)),
        Deed(verbs: ["read"], impossible: 404, http: ("GET", "/v1/values/me", nil)),
        // The address has no holder, and a caller without the grant learns no more.
        Deed(verbs: ["inspect"], impossible: 404, http: ("GET", "/v1/responders/me", nil)),
        Deed(verbs: ["admin"], refused: 404, http: ("DELETE", "/v1/modes/{mode}", nil)),
        Deed(
            verbs: ["admin"], refused: 404,
            http: ("PATCH", "/v1/clients/{client}", #"{"suspended":true}"#)),
        Deed(verbs: ["admin"], refused: 404, http: ("DELETE", "/v1/clients/{client}", nil)),
        // The center default cannot be removed.
        Deed(verbs: ["admin"], impossible: 409, http: ("DELETE", "/v1/centers/default", nil)),
        // There is no store.
        Deed(verbs: ["admin"], impossible: 409, http: ("POST", "/v1/backup", "")),
        Deed(verbs: ["admin"], impossible: 404, http: ("POST", "/v1/cluster/upgrade", "")),
        Deed(verbs: ["admin"], impossible: 404, http: ("POST", "/v1/cluster/apply-config", "")),
        Deed(verbs: ["admin"], impossible: 404, http: ("POST", "/v1/cluster/recover", "")),
    ]

    /// Whether it is the request of a route.
    func asks(_ row: RouteRow) -> Bool {
        guard let http, row.method.text.hasPrefix(http.method) else { return false }
        let path = http.target.prefix { $0 != "?" }.split(separator: "/")
        let pattern = row.path.split(separator: "/")
        return path.count == pattern.count
            && zip(path, pattern).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
    }
}

extension RouteRow.Need {
    /// The verbs of which it takes one, if no token and no session is shown.
    var verbs: Verbs {
        switch self {
        case .nothing, .credentials, .anyGrant, .token(or: nil): []
        case .named(let verbs), .somewhere(let verbs), .everywhere(let verbs): verbs
        case .token(or: let need?), .session(or: let need), .asker(or: let need): need.verbs
        }
    }
}
