import BelfryBytes

/// The address of a value inside a document: keys, joined by `.` in its text.
///
/// A document may have a key that is empty or has a `.`, but such a key has no address.
public struct DocumentPath: Sendable, Hashable {
    /// The most keys of a path.
    public static let keyLimit = 16
    /// The most bytes of a path's text.
    public static let byteLimit = 1_024

    /// The path without keys, whose text is empty: the whole document.
    public static let whole = DocumentPath(keys: [])

    /// The keys, outermost first, as UTF-8.
    public let keys: [[UInt8]]

    /// Makes the path of some keys, each of which has an address: it is not empty, and has no `.`.
    public init(keys: [[UInt8]]) {
        self.keys = keys
    }

    /// Reads the text of a path.
    ///
    /// - Throws: `DocumentPathError`.
    public static func parse(_ text: Span<UInt8>) throws(DocumentPathError) -> DocumentPath {
        guard text.count > 0 else { return .whole }
        guard text.count <= byteLimit else { throw .tooManyBytes(limit: byteLimit) }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: text)
        } catch {
            throw .invalidUTF8
        }
        var keys: [[UInt8]] = []
        var start = 0
        for index in 0...text.count where index == text.count || text[index] == .dot {
            guard index > start else { throw .emptyKey(at: start) }
            guard keys.count < keyLimit else { throw .tooManyKeys(limit: keyLimit) }
            keys.append([UInt8](copying: text.extracting(start..<index)))
            start = index + 1
        }
        return DocumentPath(keys: keys)
    }

    /// Whether this is the whole document.
    public var isWhole: Bool { keys.isEmpty }

    /// The keys, joined by `.`.
    public var text: [UInt8] {
        [UInt8](keys.joined(separator: [.dot]))
    }

    /// Whether this path leads to the other one's place or to one above it.
    public func leads(to other: DocumentPath) -> Bool {
        keys.count <= other.keys.count && other.keys.starts(with: keys)
    }

    /// The path of the first `count` keys.
    public func prefix(_ count: Int) -> DocumentPath {
        count == keys.count ? self : DocumentPath(keys: [[UInt8]](keys.prefix(count)))
    }

    /// The rest of this path, seen from a place that it leads through.
    func relative(to start: DocumentPath) -> DocumentPath {
        DocumentPath(keys: [[UInt8]](keys.dropFirst(start.keys.count)))
    }
}

/// Why a text is no key path; an offset is the index of a byte.
public enum DocumentPathError: Error, Equatable, Sendable {
    /// A key between two points, or at an end, has no bytes.
    case emptyKey(at: Int)
    /// The path has more keys than the limit.
    case tooManyKeys(limit: Int)
    /// The text has more bytes than the limit.
    case tooManyBytes(limit: Int)
    /// The text is no UTF-8.
    case invalidUTF8
}
