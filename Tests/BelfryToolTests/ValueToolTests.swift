import BelfryClient
import Foundation
import Testing

@Suite("belfry value and values, with a broker")
struct ValueToolTests {
    @Test("a value is set, merged, looked at and removed; what is not there has exit code 1")
    func writing() async throws {
        let broker = try await RunningBroker()
        let none = try await broker.run("value", "get", "o")
        #expect(none.output.isEmpty && none.exitCode == 1)
        let put = try await broker.run("value", "put", "o", "ui.theme", #" "dark" "#)
        #expect(put.output.first?.contains(#""changed":true"#) == true && put.exitCode == 0)
        let same = try await broker.run("value", "put", "o", "ui.theme", #""dark""#)
        #expect(same.output.first?.contains(#""changed":false"#) == true && same.exitCode == 0)
        _ = try await broker.run("value", "merge", "o", #"{"n":[1, 2],"ui":{"size":1.50}}"#)
        let whole = try await broker.run("value", "get", "o")
        #expect(whole.output == [#"{"n":[1,2],"ui":{"size":1.50,"theme":"dark"}}"#])
        _ = try await broker.run("value", "merge", "o", "ui", #"{"size":null}"#)
        #expect(try await broker.run("value", "get", "o", "ui").output == [#"{"theme":"dark"}"#])
        #expect(try await broker.run("value", "rm", "o", "ui.theme").exitCode == 0)
        #expect(try await broker.run("value", "rm", "o", "ui.theme").exitCode == 1)
        #expect(try await broker.run("value", "put", "o", #"{"a/b":1}"#).exitCode == 0)
        #expect(try await broker.run("value", "get", "o", "a/b").output == ["1"])
    }

    @Test("a write may depend on what is there")
    func conditions() async throws {
        let broker = try await RunningBroker()
        #expect(try await broker.run("value", "put", "o", "v", "1", "--new").exitCode == 0)
        #expect(try await broker.run("value", "put", "o", "v", "2", "--new").exitCode == 1)
        let shown = try await broker.run("value", "get", "o", "v", "--etag").output.first
        let members = try #require(JSONObject(Array((shown ?? "").utf8)))
        #expect(members.integer("value") == 1)
        let etag = try #require(members.string("etag"))
        let put = ["value", "put", "o", "v", "3", "--if-match", etag]
        #expect(try await broker.exitCode(put) == 0)
        #expect(try await broker.exitCode(put) == 1)
        #expect(try await broker.exitCode(["value", "rm", "o", "v", "--if-match", etag]) == 1)
        #expect(try await broker.run("value", "get", "o", "v").output == ["3"])
    }

    @Test("values are listed, and JSON comes from standard input")
    func listing() async throws {
        let broker = try await RunningBroker()
        let put = try broker.start(["value", "put", "o", "-"])
        try put.write(#"{"a":1}"#)
        try put.endInput()
        #expect(await put.exitCode() == 0)
        let rows = try await broker.run("values")
        #expect(rows.output.first?.hasPrefix(#"{"values":[{"object":"o","bytes":7,"#) == true)
    }

    @Test("watch prints the whole value as it is and after each change, and ends with Ctrl-C")
    func watching() async throws {
        let broker = try await RunningBroker()
        let watch = try broker.start(["value", "watch", "o"])
        #expect(await watch.line() == "null")
        let center = try await RemoteCenter.connect(to: broker.url)
        try await center.setValue("o", keyPath: "a.b", json: "1")
        #expect(await watch.line() == #"{"a":{"b":1}}"#)
        try await center.mergeValue("o", patch: #"{"c":2}"#)
        #expect(await watch.line() == #"{"a":{"b":1},"c":2}"#)
        try await center.removeValue("o")
        #expect(await watch.line() == "null")
        watch.interrupt()
        #expect(await watch.exitCode() == 0)
        try await center.setValue("o", keyPath: "a", json: "1")
        let changes = try await broker.run("value", "watch", "o", "a", "--changes", "--count", "1")
        #expect(
            changes.output.first?.contains(#""change":{"kind":"set","initial":true,"new":1}"#)
                == true)
        #expect(changes.exitCode == 0)
        await center.close()
    }
}

extension RunningBroker {
    /// The exit code of one command.
    fileprivate func exitCode(_ arguments: [String]) async throws -> Int32? {
        try await start(arguments).exitCode()
    }
}
