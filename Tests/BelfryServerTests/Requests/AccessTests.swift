import BelfryAccess
import BelfryHTTP
import BelfryWebSocket
import Synchronization
import Testing

@testable import BelfryServer

@Suite("Who may do what (Access.md section 2)")
struct AccessTests {
    /// A grant that opens a WebSocket and does nothing there.
    static let nothing = #"{"verbs":["immediate"],"names":["nothing"],"centers":["default"]}"#

    /// Grants of verbs on some names, objects and centers, and of nothing else.
    static func grants(_ verbs: [String], _ members: String = "") -> String {
        guard !verbs.isEmpty else { return "[\(nothing)]" }
        let list = verbs.map { "\"\($0)\"" }.joined(separator: ",")
        return #"[\#(nothing),{"verbs":[\#(list)]\#(members)}]"#
    }

    /// A broker whose anonymous callers may do nothing, with keys by their ids.
    static func broker(
        _ keys: [String: String], loopCount: Int = 1, anonymous: Grants? = Grants.none
    ) async throws -> Broker {
        var file = Keys()
        for (id, grants) in keys { file.add(id, grants) }
        let keyring = try file.keyring()
        return try Broker(loopCount: loopCount) {
            $0.keyring = keyring
            $0.anonymousGrants = anonymous
        }
    }

    /// The accounts of a deed that the holder of a key tries, through each of its doors.
    private func accounts(_ deed: Deed, _ id: String, _ broker: Broker) throws -> [Account] {
        var accounts: [Account] = []
        if let http = deed.http {
            let target = try Self.target(of: http.target, broker)
            let peer = try broker.http()
            try peer.send(
                HTTPPeer.text(http.method, target, http.content, fields: [Keys.field(id)]))
            // An answer without an end is a stream.
            let response = try peer.read()
            accounts.append(Account(status: response?.status ?? 200, json: response?.json ?? .null))
        }
        if let call = deed.call {
            let peer = try broker.webSocket(fields: [Keys.field(id)])
            accounts.append(Stage.account(try peer.answer(call.method, call.params)))
            #expect(peer.closeCode == nil)
        }
        return accounts
    }

    /// A target with objects of a client that may do everything.
    private static func target(of target: String, _ broker: Broker) throws -> String {
        guard target.contains("{") else { return target }
        let peer = try broker.webSocket(fields: [Keys.field("all")])
        let entry = #"{"name":"Mail","object":"me","style":"idle","coalesce":[],"modes":["later"]}"#
        var made = target
        for (place, id) in try [
            ("{client}", peer.client),
            ("{entry}", peer.result("post", entry)["id"].text ?? ""),
            ("{observer}", peer.observe("Mail", "me")["id"].text ?? ""),
            ("{mode}", peer.result("enterMode", #"{"mode":"held"}"#)["id"].text ?? ""),
            ("{ask}", ask(peer)),
        ] {
            made.replace(place, with: id)
        }
        return made
    }

    /// An ask of a client, which is not answered.
    private static func ask(_ peer: SocketPeer) throws -> String {
        try peer.result("addObserver", #"{"object":"me","implements":["Mail"]}"#)
        let asked = try peer.result("ask", #"{"object":"me","selector":"Mail","ttl":60}"#)
        return asked["id"].text ?? ""
    }

    @Test("each route that takes a verb has a deed with it")
    func routes() {
        let deeds = Deed.all + Deed.unnamed
        for row in Route.all.map(\.row) {
            for (name, verb) in Verbs.names where row.need.verbs.contains(verb) {
                let deed = deeds.first { deed in
                    deed.asks(row) && (deed.verbs.contains(name) || deed.alternative == name)
                }
                #expect(deed != nil, "\(name): \(row.method.text) \(row.path)")
            }
        }
    }

    @Test(
        """
        a deed takes each of its verbs: with them it is done, \
        without one it is 403 with that verb
        """,
        arguments: Deed.all + Deed.unnamed)
    func verbs(deed: Deed) async throws {
        let all = Verbs.names.map(\.name)
        let others = all.filter { !deed.verbs.contains($0) && $0 != deed.alternative }
        var keys = [
            "all": Self.grants(all), "exact": Self.grants(deed.verbs),
            "others": Self.grants(others),
        ]
        if let alternative = deed.alternative { keys["alternative"] = Self.grants([alternative]) }
        for verb in deed.verbs {
            keys["without-\(verb)"] = Self.grants(deed.verbs.filter { $0 != verb })
        }
        let broker = try await Self.broker(keys)
        for id in ["exact", "alternative"] where keys[id] != nil {
            for account in try accounts(deed, id, broker) { expectDone(account, of: deed) }
        }
        for verb in deed.verbs {
            for account in try accounts(deed, "without-\(verb)", broker) {
                #expect(account.status == deed.refused)
                if deed.refused == 403 { #expect(account.json["verb"].text == verb) }
            }
        }
        for account in try accounts(deed, "others", broker) {
            #expect(account.status == deed.refused)
        }
        guard let http = deed.http, deed.refused == 403 else { return }
        let target = try Self.target(of: http.target, broker)
        let anonymous = try broker.request(http.method, target, http.content)
        #expect(anonymous.status == 401)
        #expect(anonymous.problem == "credentials-missing")
        #expect(anonymous.field("www-authenticate") == #"Bearer realm="belfry""#)
        let bad = try broker.request(
            http.method, target, http.content, fields: ["Authorization: Bearer wrong"])
        #expect(bad.status == 401)
        #expect(bad.problem == "credentials-invalid")
        #expect(
            bad.field("www-authenticate") == #"Bearer realm="belfry", error="invalid_token""#)
    }

    @Test(
        "a grant on other centers, names or objects does not do",
        arguments: Deed.all)
    func elsewhere(deed: Deed) async throws {
        let broker = try await Self.broker([
            "all": Self.grants(Verbs.names.map(\.name)),
            "center": Self.grants(deed.verbs, #","centers":["team"]"#),
            "name": Self.grants(deed.verbs, #","names":["Post*"]"#),
            "object": Self.grants(deed.verbs, #","objects":["you"]"#),
            "right": Self.grants(
                deed.verbs, #","names":["Mai*"],"objects":["me"],"centers":["def*"]"#),
        ])
        let isOfAll = ["/metrics", "/v1/overview", "/v1/cluster"].contains(deed.http?.target)
        for account in try accounts(deed, "center", broker) where !isOfAll {
            #expect(account.status == deed.refused)
        }
        for account in try accounts(deed, "right", broker) { expectDone(account, of: deed) }
        let isNamed = deed.verbs[0] == "observe" || deed.http?.method == "POST"
        guard isNamed, !["modes", "inspect"].contains(deed.verbs[0]) else { return }
        for id in ["name", "object"] {
            for account in try accounts(deed, id, broker) {
                #expect(account.status == 403)
                #expect(account.json["name"].text == "Mail")
                #expect(account.json["object"].text == "me")
                #expect(account.json["center"].text == "default")
            }
        }
    }

    private func expectDone(
        _ account: Account, of deed: Deed, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isDone = deed.impossible.map { account.status == $0 } ?? !account.isRefused
        #expect(isDone, "\(account.status) \(account.json)", sourceLocation: sourceLocation)
    }

    @Test("what belongs to others takes admin on it; without, it is not there")
    func admin() async throws {
        let broker = try await Self.broker([
            "all": Self.grants(Verbs.names.map(\.name)), "boss": Self.grants(["admin"]),
            "half": Self.grants(["admin"], #","names":["Post*"]"#),
            "rest": Self.grants(Verbs.names.map(\.name).filter { $0 != "admin" }),
        ])
        func ask(_ id: String, _ method: String, _ target: String, _ body: String? = nil) throws
            -> Int
        {
            try broker.request(method, target, body, fields: [Keys.field(id)]).status
        }
        let peer = try broker.webSocket(fields: [Keys.field("all")])
        let observer = try peer.observe("Mail")["id"].text ?? ""
        let mode = try peer.result("enterMode", #"{"mode":"held"}"#)["id"].text ?? ""
        let client = "/v1/clients/\(peer.client)"
        for id in ["half", "rest"] {
            #expect(try ask(id, "DELETE", "/v1/observers/\(observer)") == 404)
            #expect(try ask(id, "DELETE", "/v1/modes/\(mode)") == 404)
            #expect(try ask(id, "PATCH", client, #"{"suspended":true}"#) == 404)
            #expect(try ask(id, "DELETE", client) == 404)
        }
        #expect(try ask("boss", "DELETE", "/v1/observers/\(observer)") == 204)
        #expect(try ask("boss", "DELETE", "/v1/modes/\(mode)") == 204)
        #expect(try ask("boss", "PATCH", client, #"{"suspended":true}"#) == 200)
        #expect(try ask("boss", "DELETE", client) == 204)
    }

    @Test(
        "listings, explain and reports show rows that inspect covers, and no other",
        arguments: [1, 2])
    func listings(loopCount: Int) async throws {
        let broker = try await Self.broker(
            [
                "all": Self.grants(Verbs.names.map(\.name)),
                "mail": Self.grants(["inspect"], #","names":["Mail*"]"#),
            ], loopCount: loopCount)
        let peer = try broker.webSocket(fields: [Keys.field("all")])
        for name in ["MailSent", "Door", "MailRead"] { try peer.observe(name) }
        try peer.observe(nil, "me")
        for name in ["Door", "MailSent", "MailLost", "DoorLost"] {
            try peer.result("post", #"{"name":"\#(name)"}"#)
            try peer.result("post", #"{"name":"\#(name)","style":"idle","modes":["later"]}"#)
        }
        func names(_ target: String, _ member: String, _ id: String) throws -> Set<String> {
            let response = try broker.get(target, fields: [Keys.field(id)])
            #expect(response.status == 200)
            return Set(response.json[member].elements.map { $0["name"].text ?? "?" })
        }
        let mail: Set = ["MailSent", "MailRead"]
        #expect(try names("/v1/observers", "observers", "mail") == mail)
        #expect(try names("/v1/observers", "observers", "all").contains("Door"))
        #expect(
            try names("/v1/channels", "channels", "mail").isSubset(of: mail.union(["MailLost"])))
        #expect(try names("/v1/channels", "channels", "all").contains("Door"))
        #expect(try names("/v1/queue", "entries", "mail") == ["MailSent", "MailLost"])
        #expect(
            try names("/v1/reports/unmatched", "postedNeverObserved", "mail") == ["MailLost"])
        #expect(try names("/v1/reports/unmatched", "observedNeverPosted", "mail") == ["MailRead"])
        func count(_ target: String, _ member: String, _ id: String) throws -> Int {
            try broker.get(target, fields: [Keys.field(id)]).json[member].elements.count
        }
        #expect(try count("/v1/explain?name=Door", "observers", "mail") == 0)
        #expect(try count("/v1/explain?name=Door", "observers", "all") == 1)
        #expect(try count("/v1/clients", "clients", "mail") == 0)
        #expect(try count("/v1/clients", "clients", "all") == 1)
        #expect(try count("/v1/centers", "centers", "mail") == 1)
    }

    @Test(
        "a post merges with, and a dequeue removes, only what the caller may post",
        arguments: Door.allCases)
    func queue(door: Door) async throws {
        let broker = try await Self.broker([
            "all": Self.grants(Verbs.names.map(\.name)),
            "mine": Self.grants(["post"], #","objects":["mine"]"#),
        ])
        let peer = try broker.webSocket(fields: [Keys.field("mine")])
        func post(_ object: String, _ id: String) throws -> String? {
            let body = """
                {"name":"Mail","object":"\(object)","style":"idle","coalesce":["name"],\
                "modes":["later"]}
                """
            guard door == .http || id == "all" else {
                return try peer.result("post", body)["outcome"].text
            }
            return try broker.request(
                "POST", "/v1/notifications", body,
                fields: [Keys.field(id), "Content-Type: application/json"]
            ).json["outcome"].text
        }
        #expect(try post("theirs", "all") == "queued")
        #expect(try post("mine", "mine") == "queued")
        #expect(try post("mine", "mine") == "coalesced")
        let removed =
            door == .http
            ? try broker.request("DELETE", "/v1/queue?name=Mail", fields: [Keys.field("mine")])
                .json["removed"].int
            : try peer.result("dequeue", #"{"name":"Mail"}"#)["removed"].int
        #expect(removed == 1)
        let left = try broker.get("/v1/queue", fields: [Keys.field("all")]).json["entries"]
        #expect(left.elements.map { $0["object"].text } == ["theirs"])
    }

    @Test("who has an observer's token reads, streams and removes it, and does nothing else")
    func observerToken() async throws {
        let broker = try await Self.broker(["all": Self.grants(Verbs.names.map(\.name))])
        let registration = try broker.request(
            "POST", "/v1/observers", #"{"name":"Mail"}"#, fields: [Keys.field("all")]
        ).json
        let token = registration["token"].text ?? ""
        let id = registration["id"].text ?? ""
        let secret = "Belfry-Token: \(token)"
        func status(_ method: String, _ target: String, _ fields: [String] = []) throws -> Int {
            try broker.request(method, target, fields: fields).status
        }
        #expect(try status("GET", "/v1/observers/\(token)/notifications") == 200)
        #expect(try status("GET", "/v1/observers/\(id)/notifications", [secret]) == 200)
        #expect(try status("GET", "/v1/observers/\(token)") == 200)
        #expect(try broker.events("/v1/events?token=\(token)").head.status == 200)
        #expect(try status("GET", "/v1/observers/\(id)") == 404)
        #expect(try status("GET", "/v1/observers/\(id)/notifications") == 404)
        #expect(try status("GET", "/v1/events?name=Mail", [secret]) == 401)
        #expect(try status("GET", "/v1/observers", [secret]) == 401)
        #expect(try status("GET", "/v1/ws", SocketPeer.openingFields + [secret]) == 401)
        let post = try broker.request("POST", "/v1/channels/Mail", "", fields: [secret])
        #expect(post.status == 401)
        #expect(try status("DELETE", "/v1/observers/\(id)") == 404)
        #expect(try status("DELETE", "/v1/observers/\(token)") == 204)
    }

    @Test("a session is resumed by the same principal, with any of its keys")
    func resume() async throws {
        var file = Keys()
        let grants = Self.grants(["observe"])
        file.add("a1", principal: "a", grants)
        file.add("a2", principal: "a", grants)
        file.add("b", grants)
        let keyring = try file.keyring()
        let broker = try Broker {
            $0.keyring = keyring
        }
        let first = try broker.webSocket(fields: [Keys.field("a1")])
        try first.observe("Mail")
        let params = #"{"session":"\#(first.session)"}"#
        for fields in [[Keys.field("b")], []] {
            let stranger = try broker.webSocket(fields: fields)
            #expect(try stranger.problem("resume", params)["status"] == 403)
        }
        let second = try broker.webSocket(fields: [Keys.field("a2")])
        #expect(try second.result("resume", params)["client"].text == first.client)
    }

    @Test(
        "an idempotency key is its principal's: others with the same one are not answered with it")
    func idempotency() async throws {
        let broker = try await Self.broker(["a": Self.grants(["post"]), "b": Self.grants(["post"])])
        func replayed(_ id: String) throws -> String? {
            try broker.request(
                "POST", "/v1/channels/Mail", "", fields: [Keys.field(id), "Idempotency-Key: k"]
            ).field("idempotency-replayed")
        }
        #expect(try replayed("a") == nil)
        #expect(try replayed("b") == nil)
        #expect(try replayed("a") == "true")
    }

    @Test("without a grant on a center nobody makes one by connecting to it")
    func connect() async throws {
        let broker = try await Self.broker(["a": #"[{"verbs":["post"],"centers":["mine"]}]"#])
        let opening = SocketPeer.openingFields
        #expect(try broker.get("/v1/centers/x/ws", fields: opening).status == 401)
        let field = [Keys.field("a")]
        #expect(try broker.get("/v1/centers/x/ws", fields: opening + field).status == 403)
        #expect(
            try broker.webSocket("/v1/centers/mine/ws", fields: field).welcome["center"] == "mine")
        #expect(broker.shared.totals.centerCount.load(ordering: .relaxed) == 2)
    }

    @Test("without keys what is lacking is 403: no credentials could help")
    func noKeys() throws {
        let broker = try Broker { $0.anonymousGrants = Grants([Grant([.observe])]) }
        let response = try broker.request("POST", "/v1/channels/Mail", "")
        #expect(response.status == 403)
        #expect(response.problem == "forbidden")
        #expect(response.field("www-authenticate") == nil)
        #expect(response.json["verb"] == "post")
    }
}
