import BelfryCenter
import BelfryTLS
import BelfryWebSocket

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
