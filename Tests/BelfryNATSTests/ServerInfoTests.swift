import BelfryJSON
import BelfryNATS
import Testing

@Suite("ServerInfo and ServerVersion")
struct ServerInfoTests {
    private func info(_ json: String) throws -> ServerInfo {
        try ServerInfo(json: Array(json.utf8))
    }

    @Test("the greeting of a server is read")
    func captured() throws {
        guard case .info(let info)? = Transcript(of: Captured.info).events.first else {
            Issue.record("no INFO")
            return
        }
        #expect(info.serverID == "NSERVER" && info.serverName == "NSERVER")
        #expect(info.version == ServerVersion(2, 15, 1) && info.version >= .oldest)
        #expect(info.maxPayload == 1_048_576)
        #expect(info.headers && info.jetStream)
        #expect(!info.tlsRequired && !info.tlsAvailable && !info.authRequired && !info.isLameDuck)
        #expect(info.connectURLs.isEmpty && info.cluster.isEmpty)
    }

    @Test("each member is read, unknown ones and null are passed over")
    func members() throws {
        let info = try info(
            #"""
            {"version":"2.12.0","max_payload":9,"tls_required":true,"tls_available":true,
             "auth_required":true,"connect_urls":["a:1","[::1]:2"],"ldm":true,"cluster":"c",
             "server_name":null,"new":{"a":[1,{}]},"headers":false}
            """#)
        #expect(info.tlsRequired && info.tlsAvailable && info.authRequired && info.isLameDuck)
        #expect(info.connectURLs == ["a:1", "[::1]:2"])
        #expect(info.cluster == "c" && info.serverName == "" && !info.headers)
    }

    @Test(
        "a member of another kind is refused",
        arguments: [
            #"{"version":2}"#, #"{"max_payload":"9"}"#, #"{"max_payload":1.5}"#,
            #"{"headers":1}"#, #"{"connect_urls":"a"}"#, #"{"connect_urls":[1]}"#, "{", "",
            #"{"max_payload":9223372036854775808}"#,
        ])
    func kinds(json: String) {
        #expect {
            try info(json)
        } throws: { error in
            if case .malformedJSON? = error as? NATSError { true } else { false }
        }
    }

    @Test(
        "without a limit, or with a version that is none, a server is not understood",
        arguments: [
            (#"{"version":"2.12.0"}"#, "max_payload"),
            (#"{"version":"2.12.0","max_payload":0}"#, "max_payload"),
            (#"{"version":"new","max_payload":9}"#, "version"),
        ])
    func incomplete(json: String, member: String) {
        #expect(throws: NATSError.unexpectedMember(member)) { try info(json) }
    }

    @Test(
        "a version is two or three numbers, whatever stands behind them",
        arguments: [
            ("2.12.0", "2.12.0"), ("2.12", "2.12.0"), ("v2.12.1", "2.12.1"),
            ("2.14.0-RC.1", "2.14.0"), ("2.12.3+x", "2.12.3"), ("", nil), ("2", nil), ("2.", nil),
            ("v", nil), ("2..1", nil), ("x2.12.1", nil), ("2.12.0.1", nil),
            ("99999999999999999999.1.1", nil),
        ] as [(String, String?)])
    func versions(text: String, expected: String?) {
        #expect(ServerVersion(text)?.description == expected)
    }

    @Test(
        "2.12 is the oldest version that is spoken to",
        arguments: [
            ("2.11.99", false), ("1.99.0", false), ("2.12.0", true), ("2.12.1", true),
            ("2.100.0", true), ("3.0.0", true), ("2.9.0", false),
        ])
    func oldest(text: String, isNewEnough: Bool) throws {
        #expect(try (#require(ServerVersion(text)) >= .oldest) == isNewEnough)
    }

    @Test("a server that tells no version is older than all")
    func unversioned() throws {
        #expect(try info(#"{"max_payload":9}"#).version < .oldest)
    }
}

@Suite("MonitoredStorage")
struct MonitoredStorageTests {
    @Test("a monitoring port tells whether its server writes before it answers")
    func answers() throws {
        func storage(_ json: String) throws -> MonitoredStorage {
            try MonitoredStorage(json: Array(json.utf8))
        }
        // As nats-server 2.12 has answered.
        #expect(
            try storage(
                #"""
                {"memory":0,"api":{"level":5},"config":{"max_memory":18957385728,
                "store_dir":"/data","sync_interval":120000000000,"sync_always":true,"strict":true}}
                """#
            ).syncsAlways)
        #expect(try !storage(#"{"config":{"sync_interval":120000000000}}"#).syncsAlways)
        #expect(throws: NATSError.unexpectedMember("config")) { try storage(#"{"disabled":true}"#) }
        #expect(throws: NATSError.self) { try storage(#"{"config":{"sync_always":1}}"#) }
        #expect(throws: NATSError.self) { try storage(#"{"config":{}"#) }
    }
}
