import BelfryBytes
import BelfryHTTP

/// The segments of a path, decoded one behind the other into reused storage.
///
/// A path is split before it is decoded, so that `%2F` is a character of a name.
struct PathSegments {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    var count: Int { ends.count }

    /// Splits and decodes a path.
    mutating func read(_ path: Span<UInt8>) throws(HTTPError) {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        var cursor = 0
        while let range = RequestTarget.nextSegment(in: path, at: &cursor) {
            try PercentEncoding.decode(path.extracting(range), into: &bytes)
            ends.append(bytes.count)
        }
    }

    /// A segment.
    subscript(position: Int) -> Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting((position == 0 ? 0 : ends[position - 1])..<ends[position]) }
    }

    /// Whether a segment is `.` or `..`, however it was encoded.
    ///
    /// Software that normalizes a path removes it, with the one before it (RFC 3986 §5.2.4), and so
    /// requests another path.
    var hasDots: Bool {
        (0..<count).contains { position in
            let segment = self[position]
            return (1...2).contains(segment.count)
                && segment.indices.allSatisfy { segment[$0] == UInt8(ascii: ".") }
        }
    }

    /// Whether a segment is this text.
    func segment(_ position: Int, is text: String) -> Bool {
        bytesAreEqual(self[position], text.utf8.span)
    }
}
