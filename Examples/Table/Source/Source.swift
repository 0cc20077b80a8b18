import BelfryClient
import Glibc
import Synchronization

/// The data source of the table: it answers `count` and `rows`, and says when a row was touched.
///
///     table-source [BROKER [NAME]]
///
/// BROKER is http://127.0.0.1:8080 unless given; NAME is in each answer. Sources share the address
/// `people`: a question goes to the one with the least to do. A post of `touch` with `{"row":7}`
/// changes row 7 in all of them. SIGINT or SIGTERM ends it.
@main
enum Source {
    static func main() {
        do throws(ClientError) {
            let arguments = CommandLine.arguments.dropFirst()
            let url = try BrokerURL(arguments.first ?? "http://127.0.0.1:8080")
            let name = arguments.dropFirst().first ?? "source"
            exit(try StopSignals.run { signals in await status(of: url, name, until: signals) })
        } catch {
            print("table-source: \(error)")
            exit(1)
        }
    }

    private static func status(
        of broker: BrokerURL, _ name: String, until signals: StopSignals
    ) async -> Int32 {
        do throws(ClientError) {
            try await run(broker, name, until: signals)
            return 0
        } catch {
            print("table-source: \(error)")
            return 1
        }
    }

    private static func run(
        _ broker: BrokerURL, _ name: String, until signals: StopSignals
    ) async throws(ClientError) {
        var options = ClientOptions()
        options.reconnects = true
        let center = try await RemoteCenter.connect(to: broker, options: options)
        let table = Table(name: name)
        var terms = ResponderOptions(["count", "rows"])
        terms.ifHeld = .share
        let responder = try await center.respond(to: "people", terms) { ask in
            try table.answer(ask)
        }
        let touches = try await center.addObserver(forName: "touch", object: "people")
        // Closing removes responder and observer, and that ends the sequence below.
        let stopping = Task {
            await signals.wait()
            await center.close()
        }
        print("\(name) holds the address people as \(responder.id)")
        for try await touch in touches {
            guard let row = touch.userInfo.flatMap({ number("row", in: $0.text) }) else { continue }
            table.touch(row)
            await tell(row, in: center)
        }
        await stopping.value
    }

    /// Posts that a row has changed, for the pages that show it; each source does so.
    private static func tell(_ row: Int, in center: RemoteCenter) async {
        do {
            var options = PostOptions()
            options.style = .asap
            options.coalescing = [.onName, .onSender]
            options.keep = .latest
            _ = try await center.post(
                name: "didChange", object: "people", userInfo: UserInfo(json: "{\"row\":\(row)}"),
                options: options)
        } catch {
            print("table-source: the change of row \(row) was not told: \(error)")
        }
    }

    /// The whole number of a member of a JSON object of this example, which has only numbers.
    static func number(_ key: String, in json: String) -> Int? {
        guard let start = json.firstRange(of: "\"\(key)\":") else { return nil }
        return Int(json[start.upperBound...].drop { $0 == " " }.prefix { $0.isNumber })
    }
}

/// The rows, which handlers of several asks look at side by side.
final class Table: Sendable {
    private let name: String
    private let rows = Mutex(Rows(count: 100_000))

    init(name: String) {
        self.name = name
    }

    func touch(_ row: Int) { rows.withLock { $0.touch(row) } }

    /// The answer to an ask, as JSON.
    func answer(_ ask: Ask) throws -> String {
        switch ask.selector {
        case "count": return rows.withLock { "\($0.count)" }
        default:
            guard let text = ask.userInfo?.text, let first = Source.number("first", in: text),
                let count = Source.number("count", in: text)
            else { throw Refusal("rows needs first and count") }
            let json = rows.withLock { $0.json(from: first, count: count) }
            return "{\"source\":\"\(name)\",\"rows\":\(json)}"
        }
    }
}
