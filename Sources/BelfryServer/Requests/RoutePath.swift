import BelfryBytes
import BelfryHTTP

/// A path of the contract with its routes: one for each of its methods.
///
/// It is an index into the table that is made of the rows: a request carries a small value without
/// a counted reference.
struct RoutePath: Equatable {
    private let position: UInt8

    /// The facts that the path alone decides.
    struct Facts {
        /// The methods of the path, besides OPTIONS.
        let methods: AllowedMethods
        let secret: RouteRow.SecretPlace
        let guarding: RouteRow.Guarding
        let answering: RouteRow.Answering
        /// Whether the path names the center itself.
        let namesCenter: Bool
        /// The indices of the segments that a request fills in: the first, and the second.
        let argument: UInt8?
        let secondArgument: UInt8?
        /// Whether such a segment has a prefix or a suffix.
        let hasAffixes: Bool
        /// The indices of its routes.
        fileprivate let places: Range<UInt8>
    }

    var facts: Facts { Self.table.facts[Int(position)] }
    /// The path as written in the contract.
    var pattern: String { Self.table.patterns[Int(position)] }
    /// The segments of the path, behind the prefix of a center.
    var words: [Word] { Self.table.words[Int(position)] }

    /// A segment as written in the contract.
    enum Word: Equatable {
        case text(String)
        /// The place of an argument, which may have a prefix and a suffix.
        case argument(prefix: String, suffix: String)

        fileprivate init(_ word: Substring) {
            if let start = word.firstIndex(of: "{"), let end = word.lastIndex(of: "}") {
                self = .argument(
                    prefix: String(word[..<start]), suffix: String(word[end...].dropFirst()))
            } else {
                self = .text(String(word))
            }
        }

        /// The text, if the segment is no argument.
        var text: String? {
            switch self {
            case .text(let text): text
            case .argument: nil
            }
        }

        /// The argument in a segment; nil if it does not fit.
        func argument(in segment: Span<UInt8>) -> Range<Int>? {
            switch self {
            case .text: return nil
            case .argument(let prefix, let suffix):
                let (start, end) = (prefix.utf8.count, segment.count - suffix.utf8.count)
                guard start < end, bytesAreEqual(segment.extracting(..<start), prefix.utf8.span),
                    bytesAreEqual(segment.extracting(end...), suffix.utf8.span)
                else { return nil }
                return start..<end
            }
        }
    }

    /// The route of a method.
    func entry(for method: HTTPMethod) -> Entry? {
        for place in facts.places {
            let entry = Self.table.entries[Int(place)]
            if entry.method.allow(method) { return entry }
        }
        return nil
    }

    /// One of the methods, and its route.
    struct Entry {
        let method: AllowedMethods
        let use: RouteRow.Use
        let route: Route
    }
}

// From the rows of all routes to their paths.
extension RoutePath {
    /// The facts about all paths.
    private struct Table {
        var facts: [Facts] = []
        var patterns: [String] = []
        var words: [[Word]] = []
        var entries: [Entry] = []

        init() {
            let rows = Route.all.map { (route: $0, row: $0.row) }
            for (index, first) in rows.enumerated()
            where !rows[..<index].contains(where: { $0.row.path == first.row.path }) {
                add(first.row, rows.filter { $0.row.path == first.row.path })
            }
            let methods: AllowedMethods = [.get, .post, .put, .delete, .patch]
            add(RouteRow(methods, "*", .looks, .nothing, guarding: .none, answering: .always), [])
        }

        /// Adds a path by its rows, which agree in all but method, use and need.
        private mutating func add(_ row: RouteRow, _ rows: [(route: Route, row: RouteRow)]) {
            let namesCenter = row.path.hasPrefix("/v1/centers/{center}")
            var words = row.path.split(separator: "/", omittingEmptySubsequences: false)[1...]
            if let first = rows.first, first.route.isOfCenter {
                words = words.dropFirst(namesCenter ? 3 : 1)
            }
            self.words.append(words.map(Word.init))
            patterns.append(row.path)
            let arguments = words.indices.filter { words[$0].contains("{") }
                .map { UInt8($0 - words.startIndex) }
            let firstPlace = UInt8(entries.count)
            for (route, row) in rows {
                entries.append(Entry(method: row.method, use: row.use, route: route))
            }
            facts.append(
                Facts(
                    methods: rows.reduce(into: row.method) { $0.formUnion($1.row.method) },
                    secret: row.secret, guarding: row.guarding, answering: row.answering,
                    namesCenter: namesCenter,
                    argument: arguments.first,
                    secondArgument: arguments.count > 1 ? arguments[1] : nil,
                    hasAffixes: words.contains {
                        $0.contains("{") && !($0.hasPrefix("{") && $0.hasSuffix("}"))
                    },
                    places: firstPlace..<UInt8(entries.count)))
        }
    }

    private static let table = Table()

    /// The server as a whole, for OPTIONS alone: the last path.
    static let server = RoutePath(position: UInt8(table.facts.count - 1))
    /// The paths of a center.
    static let ofCenter = all.filter(\.isOfCenter)
    /// The paths of the broker itself and of its files.
    static let ofService = all.filter { !$0.isOfCenter && $0 != server }

    private static let all = table.facts.indices.map { RoutePath(position: UInt8($0)) }

    private var isOfCenter: Bool {
        facts.places.first.map { Self.table.entries[Int($0)].route.isOfCenter } ?? false
    }
}

// From the segments of a request to a path.
extension RoutePath {
    /// The search key of a path: the number of segments, and length and first byte of the first.
    private static func key(_ count: Int, _ first: Span<UInt8>) -> Int {
        count << 16 | first.count << 8 | (first.isEmpty ? 0 : Int(first[0]))
    }

    private static let keysOfCenter = ofCenter.map { path in
        let first = path.words.first?.text ?? ""
        return (key: key(path.words.count, first.utf8.span), path: path)
    }

    /// The path of a center that matches these segments, from a position on.
    static func ofCenter(_ segments: borrowing PathSegments, from start: Int) -> RoutePath? {
        let count = segments.count - start
        let key = count == 0 ? 0 : key(count, segments[start])
        for row in keysOfCenter where row.key == key && row.path.isPath(segments, from: start) {
            return row.path
        }
        return nil
    }

    /// The path of the service that matches these segments.
    static func ofService(_ segments: borrowing PathSegments) -> RoutePath? {
        for path in ofService
        where path.words.count == segments.count && path.isPath(segments, from: 0) {
            return path
        }
        return nil
    }

    private func isPath(_ segments: borrowing PathSegments, from start: Int) -> Bool {
        var position = start
        for word in words {
            if let text = word.text {
                guard segments.segment(position, is: text) else { return false }
            } else if word.argument(in: segments[position]) == nil {
                return false
            }
            position += 1
        }
        return true
    }
}

extension Route {
    fileprivate var isOfCenter: Bool { if case .center = self { true } else { false } }
}
