import BelfryClient
import BelfryJSON
import BelfrySystem

/// Does what the shared cases say, and tells what it is told (Clients/cases/README.md).
@main
enum CaseRunner {
    static func main() async {
        say([("hello", object([("library", text("swift")), ("lacks", json("[]"))]))])
        var cases: [String: PlayedCase] = [:]
        await withDiscardingTaskGroup { ends in
            for await line in lines() {
                guard let said = JSONObject(line), let name = said.string("case") else {
                    preconditionFailure(
                        "no line of a case: \(String(decoding: line, as: UTF8.self))")
                }
                if let begin = said.raw("begin").flatMap(JSONObject.init) {
                    cases[name] = PlayedCase(name, begin)
                } else if said.raw("do") != nil {
                    await cases[name]?.perform(said)
                } else if let played = cases.removeValue(forKey: name) {
                    ends.addTask { await played.end() }
                }
            }
        }
    }

    /// The lines of standard input, which are read on a thread of their own.
    private static func lines() -> AsyncStream<[UInt8]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        do throws(SystemCallError) {
            _ = try SystemThread {
                var rest: [UInt8] = []
                while let bytes = try? StandardStream.input.readSome(), !bytes.isEmpty {
                    rest += bytes
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        continuation.yield(Array(rest[..<end]))
                        rest.removeFirst(end + 1)
                    }
                }
                continuation.finish()
            }
        } catch {
            preconditionFailure("no thread for standard input: \(error)")
        }
        return stream
    }

    // MARK: JSON

    /// Writes a line for the broker.
    static func say(_ members: [(String, [UInt8])]) {
        do throws(SystemCallError) {
            try StandardStream.output.write((object(members) + [UInt8(ascii: "\n")]).span)
        } catch {
            preconditionFailure("nobody reads: \(error)")
        }
    }

    static func object(_ members: [(String, [UInt8])]) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        for (key, value) in members {
            writer.key(escaping: Array(key.utf8), into: &bytes)
            writer.raw(value, into: &bytes)
        }
        writer.endObject(into: &bytes)
        return bytes
    }

    static func text(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.string(text, into: &bytes)
        return bytes
    }

    static func json(_ text: String) -> [UInt8] { Array(text.utf8) }
}
