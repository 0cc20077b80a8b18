/// The state machine of a field section (RFC 9112 §5), of a head or a trailer.
///
/// `*( field-name ":" OWS field-value OWS CRLF ) CRLF`; it records the places of the fields and
/// leaves their bytes alone. Positions count from the first byte of the head or the trailer.
struct FieldScanner: Sendable {
    private enum State { case lineStart, name, padding, value, lineFeed, lastLineFeed }

    private let lineByteLimit: Int
    private let countLimit: Int
    private let byteLimit: Int
    private let isTrailer: Bool

    private var state = State.lineStart
    private var lineStart = 0
    private var nameEnd = 0
    private var valueStart = 0
    /// The end of the value without the blanks that follow it, as far as it was read.
    private var valueEnd = 0
    private var fieldCount = 0

    init(head limits: HTTPLimits) {
        lineByteLimit = limits.fieldLineByteLimit
        countLimit = limits.fieldCountLimit
        byteLimit = limits.headByteLimit
        isTrailer = false
    }

    /// A trailer's fields are checked and dropped (RFC 9112 §7.1.2).
    init(trailer limits: HTTPLimits) {
        lineByteLimit = limits.fieldLineByteLimit
        countLimit = limits.fieldCountLimit
        byteLimit = limits.trailerByteLimit
        isTrailer = true
    }

    /// Reads on; true when the section is over and `cursor` behind its last LF.
    ///
    /// - Parameter offset: The distance from an index of `bytes` to a position in the head or
    ///   trailer.
    mutating func scan(
        _ bytes: Span<UInt8>, at cursor: inout Int, offset: Int,
        recordingIn fields: inout FieldRanges
    ) throws(HTTPError) -> Bool {
        let available = min(bytes.count, byteLimit - offset)
        var index = cursor
        if state == .lineStart, !isTrailer {
            index = takeWholeLines(bytes, from: index, to: available, offset, &fields)
            if index &+ 1 < available, bytes[index] == ASCII.carriageReturn,
                bytes[index &+ 1] == ASCII.lineFeed
            {
                cursor = index &+ 2
                return true
            }
        }
        while index < available {
            let byte = bytes[index]
            switch state {
            case .lineStart:
                guard byte != ASCII.carriageReturn else {
                    state = .lastLineFeed
                    index &+= 1
                    continue
                }
                try beginLine(with: byte, at: index + offset)
            case .name:
                let end = try lineEnd(at: index, available: available, offset: offset)
                index = ByteSet.token.endOfRun(in: bytes, from: index, to: end)
                guard index < end else { continue }
                nameEnd = index + offset
                guard bytes[index] == ASCII.colon, nameEnd > lineStart else {
                    throw .invalidFieldName
                }
                index &+= 1
                state = .padding
            case .padding:
                if ASCII.isBlank(byte) {
                    _ = try lineEnd(at: index, available: available, offset: offset)
                    index &+= 1
                } else {
                    valueStart = index + offset
                    valueEnd = valueStart
                    state = .value
                }
            case .value:
                let start = index
                if byte != ASCII.carriageReturn {
                    let end = try lineEnd(at: index, available: available, offset: offset)
                    index = bytes.endOfText(from: index, to: end)
                    trimValue(bytes, from: start, to: index, offset: offset)
                    guard index < end else { continue }
                }
                try endValue(with: bytes[index])
                index &+= 1
            case .lineFeed:
                try endLine(with: byte, recordingIn: &fields)
                index &+= 1
            case .lastLineFeed:
                guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
                cursor = index + 1
                return true
            }
        }
        guard bytes.count == available else {
            throw isTrailer ? .trailerTooLarge(limit: byteLimit) : .headTooLarge(limit: byteLimit)
        }
        cursor = index
        return false
    }

    /// Takes the usual lines, whole and plain, without a step for each state.
    ///
    /// - Returns: The start of the first line that is none of those; the states judge it.
    private mutating func takeWholeLines(
        _ bytes: Span<UInt8>, from start: Int, to end: Int, _ offset: Int,
        _ fields: inout FieldRanges
    ) -> Int {
        var line = start
        while line < end, bytes[line] != ASCII.carriageReturn {
            let lineEnd = min(end, line &+ lineByteLimit)
            var known = KnownName(lineStart: line, in: bytes)
            let colon =
                known.map { line &+ $0.byteCount }
                ?? ByteSet.token.endOfRun(in: bytes, from: line, to: lineEnd)
            let value = colon &+ 2
            guard colon > line, value < lineEnd, bytes[colon] == ASCII.colon,
                bytes[colon &+ 1] == ASCII.space, !ASCII.isBlank(bytes[value])
            else { break }
            let stop = bytes.endOfText(from: value, to: lineEnd)
            guard stop &+ 1 < end, stop < lineEnd, bytes[stop] == ASCII.carriageReturn,
                bytes[stop &+ 1] == ASCII.lineFeed, !ASCII.isBlank(bytes[stop &- 1]),
                fieldCount < countLimit
            else { break }
            fieldCount &+= 1
            if known == nil { known = KnownName(line..<colon, in: bytes) }
            fields.append(
                FieldRange(
                    nameStart: UInt32(truncatingIfNeeded: line &+ offset),
                    nameEnd: UInt32(truncatingIfNeeded: colon &+ offset),
                    valueStart: UInt32(truncatingIfNeeded: value &+ offset),
                    valueEnd: UInt32(truncatingIfNeeded: stop &+ offset), known: known))
            line = stop &+ 2
        }
        return line
    }

    private var range: FieldRange {
        FieldRange(
            nameStart: UInt32(lineStart), nameEnd: UInt32(nameEnd),
            valueStart: UInt32(valueStart), valueEnd: UInt32(valueEnd))
    }

    /// Begins the line of a field with the first byte of its name.
    @inline(__always)
    private mutating func beginLine(with byte: UInt8, at position: Int) throws(HTTPError) {
        guard !ASCII.isBlank(byte) else { throw .foldedField }
        guard byte != ASCII.lineFeed else { throw .bareLineFeed }
        guard fieldCount < countLimit else { throw .tooManyFields(limit: countLimit) }
        lineStart = position
        state = .name
    }

    /// Ends the line of a field with the byte behind its CR.
    @inline(__always)
    private mutating func endLine(
        with byte: UInt8, recordingIn fields: inout FieldRanges
    ) throws(HTTPError) {
        guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
        fieldCount &+= 1
        if !isTrailer { fields.append(range) }
        state = .lineStart
    }

    /// Where the line must be over at the latest, or the end of what there is.
    private func lineEnd(
        at index: Int, available: Int, offset: Int
    ) throws(HTTPError) -> Int {
        let end = lineStart + lineByteLimit - offset
        guard index < end else { throw .fieldLineTooLong(limit: lineByteLimit) }
        return min(available, end)
    }

    /// Moves the end of the value behind the last byte of `start..<end` that is not blank.
    private mutating func trimValue(
        _ bytes: Span<UInt8>, from start: Int, to end: Int, offset: Int
    ) {
        var last = end
        while last > start, ASCII.isBlank(bytes[last &- 1]) { last &-= 1 }
        if last > start { valueEnd = last + offset }
    }

    /// Ends a value at this byte: only CR is right.
    private mutating func endValue(with byte: UInt8) throws(HTTPError) {
        switch byte {
        case ASCII.carriageReturn: state = .lineFeed
        case ASCII.lineFeed: throw .bareLineFeed
        default: throw .invalidFieldValue
        }
    }
}
