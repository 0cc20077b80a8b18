import BelfryCenter
import BelfryTLS
import BelfryWebSocket
import CBelfryAssets

/// A file that is built into the broker; the cases stand in the order of `belfry_asset`.
enum Asset: UInt32, CaseIterable {
    case console
    case consoleScript
    case library
    case libraryTypes
    case openAPI
    case openAPIJSON
    case asyncAPI

    /// Where the file is found, and what it is.
    var facts: (path: String, contentType: String) {
        switch self {
        case .console: ("/", "text/html; charset=utf-8")
        case .consoleScript: ("/console.js", "text/javascript; charset=utf-8")
        case .library: ("/belfry.js", "text/javascript; charset=utf-8")
        case .libraryTypes: ("/belfry.d.ts", "text/plain; charset=utf-8")
        case .openAPI: ("/openapi.yaml", "application/yaml")
        case .openAPIJSON: ("/openapi.json", "application/json")
        case .asyncAPI: ("/asyncapi.yaml", "application/yaml")
        }
    }

    /// What the console page may do: nothing but talk to its own broker.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
        img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'
        """

    /// A file as it is sent.
    struct Content {
        let bytes: [UInt8]
        /// What tells these bytes from all others: the start of their digest.
        let tag: ValueTag

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            let digest = Digest.start(of: bytes.span)
            tag = ValueTag(high: digest.high, low: digest.low)
        }
    }

    /// Every file that is there, copied once a process.
    static let files: [Asset: Content] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { asset in
            let bytes = asset.bytes()
            return bytes.isEmpty ? nil : (asset, Content(bytes))
        })

    /// The same encoded with gzip, once a process.
    static let compressedFiles: [Asset: Content] = {
        let encoder = GzipEncoder()
        return files.compactMapValues { encoder.encode($0.bytes.span).map(Content.init) }
    }()

    /// Makes both, so that no request waits for them.
    static func prepare() { _ = compressedFiles }

    /// The bytes of the file; none where the broker was built without it.
    private func bytes() -> [UInt8] {
        let asset = belfry_asset(rawValue)
        return (0..<belfry_asset_byte_count(asset)).map { belfry_asset_byte(asset, $0) }
    }
}
