import BelfryBytes
import BelfryJSON

/// The header block of a message: `NATS/1.0 [status [description]]`, fields, an empty line.
///
/// It is kept as on the wire, with the places of its fields.
public struct HeaderBlock: Sendable, Equatable {
    private struct Place: Equatable {
        var name: Range<Int>
        var value: Range<Int>
    }

    /// The whole block, with its empty line.
    public private(set) var bytes: [UInt8]
    /// The status, which a server alone sends.
    public private(set) var status: HeaderStatus?
    /// The words behind the status; mostly empty.
    public private(set) var statusText: [UInt8] = []

    private var places: [Place] = []
    private static let version = "NATS/1.0"

    /// A block without status and fields.
    public init() {
        bytes = Array("\(Self.version)\r\n\r\n".utf8)
    }

    /// Reads a block.
    ///
    /// - Throws: `malformedHeaders`.
    public init(_ bytes: [UInt8]) throws(NATSError) {
        self.bytes = bytes
        let span = bytes.span
        var start = 0
        while true {
            var end = start
            while end < span.count, !span[end].isControl || span[end].isBlank { end += 1 }
            guard span.count - end >= 2, span[end] == .carriageReturn, span[end + 1] == .lineFeed
            else { throw .malformedHeaders }
            if start == 0 {
                try readStatus(span.extracting(..<end))
            } else if start < end {
                try readField(start..<end)
            } else {
                // The empty line ends the block, and nothing follows.
                guard end + 2 == span.count else { throw .malformedHeaders }
                return
            }
            start = end + 2
        }
    }

    private mutating func readStatus(_ line: Span<UInt8>) throws(NATSError) {
        let versionEnd = Self.version.utf8.count
        guard bytesAreEqual(line.extracting(first: versionEnd), Self.version.utf8.span) else {
            throw .malformedHeaders
        }
        guard line.count > versionEnd else { return }
        guard line.count >= versionEnd + 4, line[versionEnd] == .space,
            let code = line.extracting(versionEnd + 1..<versionEnd + 4).decimal, code >= 100,
            line.count == versionEnd + 4 || line[versionEnd + 4] == .space
        else { throw .malformedHeaders }
        status = HeaderStatus(rawValue: UInt16(code))
        let text = line.extracting((versionEnd + 4)...)
        statusText = Array(copying: text.extracting(text.trimmed))
    }

    private mutating func readField(_ line: Range<Int>) throws(NATSError) {
        guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")), colon > line.lowerBound,
            !bytes[line.lowerBound..<colon].contains(where: \.isBlank)
        else { throw .malformedHeaders }
        let value = bytes.span.extracting(colon + 1..<line.upperBound).trimmed
        places.append(
            Place(
                name: line.lowerBound..<colon,
                value: colon + 1 + value.lowerBound..<colon + 1 + value.upperBound))
    }

    /// The value of the last field of this name, without the blanks around it.
    ///
    /// A stream adds its own fields behind those of the publisher, which may have the same names.
    @_lifetime(borrow self)
    public func value(of field: HeaderField) -> Span<UInt8>? {
        guard
            let place = places.last(where: { bytes[$0.name].elementsEqual(field.rawValue.utf8) })
        else { return nil }
        return bytes.span.extracting(place.value)
    }

    /// The value of the last field of this name as a number, or `nil` without one.
    ///
    /// - Throws: `invalidField` for a value that is no number.
    public func number(of field: HeaderField) throws(NATSError) -> UInt64? {
        guard let value = value(of: field) else { return nil }
        guard let number = value.decimal else { throw .invalidField(field) }
        return number
    }

    /// Adds a field at the end.
    ///
    /// - Throws: `invalidFieldValue` for a value that could not be read back.
    public mutating func append(_ field: HeaderField, _ value: [UInt8]) throws(NATSError) {
        guard value.span.trimmed == 0..<value.count, !value.contains(where: \.isControl) else {
            throw .invalidFieldValue(field)
        }
        bytes.removeLast(2)
        let start = bytes.count
        bytes += field.rawValue.utf8
        let nameEnd = bytes.count
        bytes.append(literal: ": ")
        places.append(
            Place(name: start..<nameEnd, value: bytes.count..<bytes.count + value.count))
        bytes += value
        bytes.append(literal: "\r\n\r\n")
    }
}
