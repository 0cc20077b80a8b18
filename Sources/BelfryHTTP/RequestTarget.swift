/// One `name=value` of a query, decoded.
public struct QueryParameter: Sendable, Equatable {
    /// The name, as UTF-8.
    public let name: [UInt8]
    /// The value, as UTF-8; empty when there is no `=`.
    public let value: [UInt8]

    /// Makes a parameter out of its decoded parts.
    public init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

/// Splits paths and queries: split first, then decoded, so `%2F` is a character of a name.
///
/// Dot segments are names like others: nothing is resolved (RFC 3986 §5.2.4 is for clients).
public enum RequestTarget {
    /// Finds the next segment of a path, still encoded, and moves `cursor` behind it.
    ///
    /// `cursor` begins at 0, on the first slash. `/a/` has the segments `a` and an empty one.
    public static func nextSegment(in path: Span<UInt8>, at cursor: inout Int) -> Range<Int>? {
        guard cursor < path.count else { return nil }
        let end = path.firstIndex(of: ASCII.slash, in: cursor + 1..<path.count)
        defer { cursor = end }
        return cursor + 1..<end
    }

    /// Splits a query at `&` and its pairs at their first `=`, and decodes both parts.
    ///
    /// Order and repetition are kept; an empty pair is skipped.
    /// - Throws: `HTTPError.tooManyParameters`, `HTTPError.invalidPercentEncoding`,
    ///   `HTTPError.invalidUTF8`.
    public static func queryParameters(
        of query: Span<UInt8>, countLimit: Int = 128
    ) throws(HTTPError) -> [QueryParameter] {
        var parameters: [QueryParameter] = []
        var start = 0
        while start < query.count {
            let end = query.firstIndex(of: ASCII.ampersand, in: start..<query.count)
            if start < end {
                guard parameters.count < countLimit else {
                    throw .tooManyParameters(limit: countLimit)
                }
                let mark = query.firstIndex(of: ASCII.equals, in: start..<end)
                var name: [UInt8] = []
                var value: [UInt8] = []
                try PercentEncoding.decode(query.extracting(start..<mark), into: &name)
                if mark < end {
                    try PercentEncoding.decode(query.extracting(mark + 1..<end), into: &value)
                }
                parameters.append(QueryParameter(name: name, value: value))
            }
            start = end + 1
        }
        return parameters
    }
}
