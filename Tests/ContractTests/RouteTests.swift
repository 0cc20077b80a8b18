import BelfryHTTP
import Testing

@testable import BelfryServer

@Suite("The rows of the routes: openapi.yaml and Access.md")
struct RouteTests {
    /// The public paths of the broker; those for debugging are no part of the contract.
    private static let servicePaths = RoutePath.ofService.filter { $0.facts.guarding != .debug }

    private let paths: [String: ContractValue]

    init() throws {
        paths = try ContractFile("openapi.yaml").yaml()["paths"].members
    }

    @Test(
        "the paths of openapi.yaml are those of the rows, with and without a center, and so are the methods"
    )
    func contract() {
        var expected: [String: Set<String>] = [:]
        for path in Self.servicePaths + RoutePath.ofCenter {
            expected[path.pattern] = Self.documentedMethods(path)
        }
        for path in RoutePath.ofCenter where !path.facts.namesCenter {
            expected["/v1/centers/{center}" + path.pattern.dropFirst("/v1".count)] =
                Self.documentedMethods(path)
        }
        let methods: Set = ["get", "put", "post", "delete", "patch", "head", "options", "trace"]
        #expect(expected == paths.mapValues { methods.intersection($0.members.keys) })
    }

    @Test("a path of openapi.yaml is found as that of its row, with what it names")
    func reading() throws {
        for template in paths.keys {
            let path = try #require(routed(template), "no route for \(template)")
            let prefix = "/v1/centers/{center}"
            let isBelow = path.hasCenterPrefix && !path.place.facts.namesCenter
            #expect(
                path.place.pattern
                    == (isBelow ? "/v1" + template.dropFirst(prefix.count) : template))
            #expect(path.center == Array((path.hasCenterPrefix ? "{center}" : "default").utf8))
            let names = path.place.words.contains { $0.text == nil }
            #expect(path.argument.isEmpty != names)
        }
    }

    @Test("words of ours in places that are not theirs are nothing")
    func misplacedWords() {
        let words = Set(
            (RoutePath.ofCenter + RoutePath.ofService).flatMap(\.words).compactMap(\.text) + ["x"])
        for word in words {
            for below in words {
                guard let path = routed("/v1/\(word)/\(below)") else { continue }
                let pattern = path.place.pattern
                #expect(
                    pattern == "/v1/\(word)/\(below)" || pattern.hasPrefix("/v1/\(word)/{"),
                    "/v1/\(word)/\(below)")
            }
        }
        #expect(routed("/v1/centers/{center}/centers") == nil)
        #expect(routed("/v1/centers/{center}/livez") == nil)
    }

    @Test("the paths that the broker takes without reading one are what they are taken for")
    func unread() {
        let channel = Exchange.channelPrefix + Array("{name}".utf8)
        #expect(channel == Array(CenterRoute.post.row.path.utf8))
        #expect(Exchange.notificationsPath == Array(CenterRoute.postSeveral.row.path.utf8))
        #expect(RoutePath.server.pattern == "*")
        #expect(RoutedPath.server.entry == nil)
    }

    @Test("the rows of one path agree in all but method, use and need, and have each method once")
    func onePath() {
        let rows = Dictionary(grouping: Route.all.map(\.row), by: \.path)
        for (path, rows) in rows {
            for row in rows {
                #expect(row.secret == rows[0].secret, "\(path)")
                #expect(row.guarding == rows[0].guarding, "\(path)")
                #expect(row.answering == rows[0].answering, "\(path)")
            }
            #expect(Set(rows.map(\.method.rawValue)).count == rows.count, "\(path)")
        }
    }

    @Test("HEAD is answered wherever GET is, but not where an answer never ends, or acknowledges")
    func head() {
        let withoutHead = Route.all.filter { $0.row.method == .getWithoutHead }
        #expect(
            withoutHead == [
                .center(.mailbox), .center(.webSocket), .center(.events), .service(.debugWebSocket),
            ])
    }

    @Test("a path may have a secret where it names a token, and where a token answers")
    func secrets() {
        for row in Route.all.map(\.row) {
            let namesToken =
                row.path.contains("{token}") || row.path.contains("{idOrToken}")
                || row.path.hasSuffix("/answer")
            #expect((row.secret != .none) == namesToken, "\(row.path)")
        }
    }

    // MARK: Access.md

    @Test("the table of Access.md, section 2, has each route once, and says what its row says")
    func needs() throws {
        var expected: [String: String] = [:]
        for row in Route.all.map(\.row) where row.guarding != .debug {
            let method = row.method.text.split(separator: ",")[0]
            expected["\(method) \(row.path)"] = row.need.text
        }
        var told: Set<String> = []
        for (routes, need) in try accessTable() {
            for route in routes {
                let text = try #require(expected[route], "Access.md has \(route)")
                #expect(told.insert(route).inserted, "Access.md has \(route) twice")
                let end = need.dropFirst(text.count).first
                #expect(need.hasPrefix(text), "\(route): \(text)")
                #expect(end == nil || end == ";" || end == "," || end == " ", "\(route)")
            }
        }
        #expect(told == Set(expected.keys))
    }

    /// The rows of the table: methods with their paths, and what they take.
    private func accessTable() throws -> [(routes: [String], need: String)] {
        let lines = try ContractFile("Documentation/Access.md").lines
        let start = try #require(lines.firstIndex(of: "| route | call | takes |"))
        var rows: [(routes: [String], need: String)] = []
        for line in lines[(start + 2)...].prefix(while: { $0.hasPrefix("|") }) {
            let cells = line.split(separator: "|").map { $0.split(separator: " ") }
            // A method holds for the paths behind it.
            var method: Substring = ""
            var routes: [String] = []
            for word in cells[0] {
                let name = word.filter { $0 != "`" && $0 != "," }
                if name.hasPrefix("/") {
                    routes.append("\(method) \(name)")
                } else {
                    method = Substring(name)
                }
            }
            rows.append((routes, cells[2].joined(separator: " ")))
        }
        return rows
    }

    /// The route of a path template; each parameter represents itself.
    private func routed(_ template: String) -> RoutedPath? {
        // The braces of a path are no characters of a URI, so they are encoded here.
        let path = Array(template.utf8).flatMap {
            $0 == UInt8(ascii: "{")
                ? Array("%7B".utf8) : $0 == UInt8(ascii: "}") ? Array("%7D".utf8) : [$0]
        }
        var segments = PathSegments()
        do {
            try segments.read(path.span)
        } catch {
            return nil
        }
        return RoutedPath(segments, .get, hasDebugEndpoints: false)
    }

    /// The methods that the file lists: HEAD goes with GET and is told once, in its introduction.
    private static func documentedMethods(_ path: RoutePath) -> Set<String> {
        Set(path.facts.methods.text.split(separator: ", ").map { $0.lowercased() })
            .subtracting(["head", "options"])
    }
}
