/// Writes the chunked transfer coding (RFC 9112 §7.1).
enum ChunkWriter {
    static func append(_ content: Span<UInt8>, to output: inout [UInt8]) {
        guard content.count > 0 else { return }
        output.append(contentsOf: String(content.count, radix: 16).utf8)
        output.append(contentsOf: "\r\n".utf8)
        output.append(content)
        output.append(contentsOf: "\r\n".utf8)
    }

    static func appendLast(to output: inout [UInt8]) {
        output.append(contentsOf: "0\r\n\r\n".utf8)
    }
}
