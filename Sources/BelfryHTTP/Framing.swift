/// The two fields that say where content ends (RFC 9112 §6).
enum Framing {
    /// Reads `1*DIGIT`; a number past `Int.max` becomes `Int.max`, which no limit lets through.
    static func contentLength(_ value: Span<UInt8>) throws(HTTPError) -> Int {
        guard value.count > 0 else { throw .invalidContentLength }
        var length = 0
        for index in value.indices {
            guard ASCII.isDigit(value[index]) else { throw .invalidContentLength }
            let digit = Int(value[index] &- ASCII.zero)
            let isTooLarge = length > (Int.max - digit) / 10
            length = isTooLarge ? Int.max : length * 10 + digit
        }
        return length
    }

    /// Accepts exactly `chunked`; always true when it does not throw.
    ///
    /// A final coding other than `chunked` leaves the end of a request unknown: 400 (RFC 9112
    /// §6.3). Others before it are 501 (§6.1).
    static func isChunked(_ value: Span<UInt8>) throws(HTTPError) -> Bool {
        if value.equalsIgnoringCase("chunked") { return true }
        var chunkedCount = 0
        var isLastChunked = false
        var codingCount = 0
        var cursor = 0
        while let element = FieldList.nextElement(in: value, at: &cursor) {
            codingCount += 1
            isLastChunked = value.extracting(element).equalsIgnoringCase("chunked")
            chunkedCount += isLastChunked ? 1 : 0
        }
        guard isLastChunked, chunkedCount == 1, codingCount > 1 else {
            throw .invalidTransferEncoding
        }
        throw .unsupportedTransferCoding
    }
}
