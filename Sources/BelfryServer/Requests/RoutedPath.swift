import BelfryBytes
import BelfryHTTP

/// A path that was matched.
struct RoutedPath {
    /// The center that the path names, or `default`.
    let center: [UInt8]
    /// Whether the path named the center, so that answers do, too.
    let hasCenterPrefix: Bool
    /// The path of the contract.
    let place: RoutePath
    /// The route of the request's method; nil where the path lacks the method.
    let entry: RoutePath.Entry?
    /// The name, the id or the token in it; nothing where the path has none.
    let argument: [UInt8]
    /// The second such text; nothing where the path has one at most.
    let secondArgument: [UInt8]

    static let defaultCenter = Array("default".utf8)

    /// The beginning of the paths of this center: `/v1` or `/v1/centers/{center}`.
    var prefix: [UInt8] {
        hasCenterPrefix
            ? Array("/v1/centers/".utf8) + Self.encoded(center) : Self.defaultPrefix
    }

    private static let defaultPrefix = Array("/v1".utf8)

    private static func encoded(_ name: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        PercentEncoding.encode(name.span, into: &text)
        return text
    }

    /// The server as a whole, the target of `OPTIONS *`.
    static let server = RoutedPath(.server, nil)

    private init(_ place: RoutePath, _ entry: RoutePath.Entry?) {
        center = Self.defaultCenter
        hasCenterPrefix = false
        self.place = place
        self.entry = entry
        argument = []
        secondArgument = []
    }

    /// Reads the segments of a path.
    ///
    /// - Returns: nil where no path matches.
    init?(_ segments: borrowing PathSegments, _ method: HTTPMethod, hasDebugEndpoints: Bool) {
        guard segments.count > 0 else { return nil }
        var start = 0
        if segments.segment(0, is: "v1") {
            start = segments.count >= 3 && segments.segment(1, is: "centers") ? 3 : 1
        }
        hasCenterPrefix = start == 3
        center = hasCenterPrefix ? [UInt8](copying: segments[2]) : Self.defaultCenter
        guard !center.isEmpty else { return nil }
        var place: RoutePath?
        if start > 0 { place = .ofCenter(segments, from: start) }
        if !hasCenterPrefix, place?.facts.namesCenter == true { place = nil }
        if place == nil {
            place = .ofService(segments)
            start = 0
        }
        guard let place else { return nil }
        let facts = place.facts
        guard hasDebugEndpoints || facts.guarding != .debug else { return nil }
        self.place = place
        entry = place.entry(for: method)
        argument = facts.argument.map { place.argument(in: segments[start + Int($0)], $0) } ?? []
        secondArgument =
            facts.secondArgument.map { place.argument(in: segments[start + Int($0)], $0) } ?? []
    }
}

extension RoutePath {
    /// The argument in a segment of a request.
    @inline(__always)
    fileprivate func argument(in segment: Span<UInt8>, _ position: UInt8) -> [UInt8] {
        guard facts.hasAffixes else { return [UInt8](copying: segment) }
        return words[Int(position)].argument(in: segment)
            .map { [UInt8](copying: segment.extracting($0)) } ?? []
    }
}
