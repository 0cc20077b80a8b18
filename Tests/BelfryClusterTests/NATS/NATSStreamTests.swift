import BelfryNATS
import Testing

@testable import BelfryCluster

@Suite("NATSJournal: its streams")
struct NATSStreamTests {
    static let streams: [(code: Int, number: Int, text: String, failure: String)] = [
        (
            500, 10_047, "insufficient storage resources available",
            "final: the NATS servers have no room for the stream BELFRY_prod of 4294967296 bytes: "
                + "raise max_file_store of JetStream, or ask for less"
        ),
        (
            400, 10_005, "no suitable peers for placement, insufficient storage",
            "final: the NATS servers have no room for the stream BELFRY_prod of 4294967296 bytes: "
                + "raise max_file_store of JetStream, or ask for less"
        ),
        (
            400, 10_005, "no suitable peers for placement, peer offline",
            "the NATS server does not make the stream BELFRY_prod: "
                + "no suitable peers for placement, peer offline"
        ),
        (
            500, 10_074, "replicas > 1 not supported in non-clustered mode",
            "final: the NATS servers cannot keep 3 copies of the stream BELFRY_prod: "
                + "run 3 servers with JetStream in a cluster, or ask for fewer copies"
        ),
        (
            503, 10_008, "JetStream system temporarily unavailable",
            "JetStream does not answer (JetStream system temporarily unavailable): "
                + "see that it is enabled, and that most servers are up"
        ),
    ]

    @Test("a stream that is not made is told", arguments: streams)
    func refusedStream(row: (code: Int, number: Int, text: String, failure: String)) throws {
        let server = try ScriptedServer()
        server.greet()
        server.refuse("c.0", code: row.code, number: row.number, row.text)
        #expect(server.failure == row.failure)
    }

    @Test("a server without JetStream is told")
    func nobody() throws {
        let server = try ScriptedServer()
        server.greet()
        server.answer("c.1", status: "503")
        #expect(server.failure?.hasPrefix("JetStream does not answer (nobody responds)") == true)
    }

    @Test("an answer that is none is told")
    func malformedAnswer() throws {
        let server = try ScriptedServer()
        server.greet()
        server.answer("c.0", "{}")
        #expect(
            server.failure == "the NATS server sent what is not understood: "
                + "the member config is missing, or has an unknown value")
    }

    static let settings: [(from: String, to: String, sentence: String)] = [
        (#""num_replicas":3"#, #""num_replicas":1"#, "num_replicas 1, and 3 by --engine-replicas"),
        (
            #""max_bytes":4294967296"#, #""max_bytes":-1"#,
            "max_bytes -1, and 4294967296 by --log-limit"
        ),
        (#""storage":"file""#, #""storage":"memory""#, "storage memory, and file"),
        (#""retention":"limits""#, #""retention":"interest""#, "retention interest, and limits"),
        (#""discard":"new""#, #""discard":"old""#, "discard old, and new"),
        (#"["belfry.prod.log"]"#, #"["a","b"]"#, "subjects a, b, and belfry.prod.log"),
        (
            #""dest":"belfry.prod.rep""#, #""dest":"x""#,
            "republish from belfry.prod.log to x, and from belfry.prod.log to belfry.prod.rep"
        ),
        (#""allow_direct":true"#, #""allow_direct":false"#, "allow_direct false, and true"),
        (#""deny_delete":true"#, #""deny_delete":false"#, "deny_delete false, and true"),
        (
            #""duplicate_window":120000000000"#, #""duplicate_window":60000000000"#,
            "duplicate_window 60.0 seconds, and 120.0 seconds"
        ),
    ]

    @Test("a stream with other settings is looked at, and the setting is told", arguments: settings)
    func otherSettings(row: (from: String, to: String, sentence: String)) throws {
        let server = try ScriptedServer()
        server.greet()
        server.takeCreates()
        server.refuse("c.0", code: 400, number: 10_058, "stream name already in use")
        #expect(server.inquiries() == ["k.0"])
        server.answer("k.0", server.info(of: "c.0") { $0.replacing(row.from, with: row.to) })
        let (asked, option) =
            row.sentence.firstRange(of: " by ").map {
                (row.sentence[..<$0.lowerBound], row.sentence[$0.lowerBound...])
            } ?? (row.sentence[...], "")
        #expect(
            server.failure == "final: the stream BELFRY_prod is there with \(asked) is asked for"
                + "\(option): change the one or the other")
    }

    @Test("a setting that is not looked at is told as such")
    func unknownSetting() throws {
        let server = try ScriptedServer()
        server.greet()
        server.takeCreates()
        server.refuse("c.1", code: 400, number: 10_058, "stream name already in use")
        server.answer("k.1", server.info(of: "c.1"))
        #expect(
            server.failure == "final: the stream BELFRY_prod_SNAP is there with a setting that no "
                + "broker asks for: take back what was changed, or use another name for the cluster"
        )
    }
}
