import BelfryCenter
import BelfryTLS
import BelfryWebSocket
import CBelfryAssets

/// A file that is built into the broker, as it is sent.
struct EmbeddedFile {
    let contentType: String
    let plain: Content
    /// The file encoded with gzip; nil where that saves nothing.
    let compressed: Content?

    /// The bytes of a file in one encoding.
    struct Content {
        let bytes: [UInt8]
        /// The entity tag: the start of the bytes' digest.
        let tag: ValueTag

        fileprivate init(_ bytes: [UInt8]) {
            self.bytes = bytes
            let digest = Digest.start(of: bytes.span)
            tag = ValueTag(high: digest.high, low: digest.low)
        }
    }

    /// Takes a file, which is compressed here unless it was in advance.
    init(_ bytes: [UInt8], contentType: String, compressed: [UInt8]? = nil) {
        self.contentType = contentType
        plain = Content(bytes)
        self.compressed = (compressed ?? GzipEncoder().encode(bytes.span)).map(Content.init)
    }
}

extension EmbeddedFile {
    /// The modules and the style of the console page, by name, copied once in a process.
    static let ofConsole: [[UInt8]: EmbeddedFile] = Dictionary(
        uniqueKeysWithValues: (0..<belfry_console_file_count()).map { file in
            let name = Array(
                sequence(first: 0) { $0 + 1 }.lazy.map { belfry_console_file_name(file, $0) }
                    .prefix { $0 != 0 })
            let count = belfry_console_file_byte_count(file)
            let bytes = (0..<count).map { belfry_console_file_byte(file, $0) }
            let isStyle = name.suffix(4).elementsEqual(".css".utf8)
            let type = isStyle ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8"
            return (name, EmbeddedFile(bytes, contentType: type))
        })
}
