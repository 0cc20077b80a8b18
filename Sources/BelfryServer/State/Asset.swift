import CBelfryAssets

/// A file at the top of the broker's URLs; the cases are in the order of `belfry_asset`.
enum Asset: UInt32, CaseIterable {
    case console
    case desk
    case deskWorker
    case library
    case readableLibrary
    case libraryTypes
    case openAPI
    case openAPIJSON
    case asyncAPI

    /// The path of the file and its type.
    var facts: (path: String, contentType: String) {
        switch self {
        case .console: ("/", "text/html; charset=utf-8")
        case .desk: ("/desk", "text/html; charset=utf-8")
        case .deskWorker: ("/desk-worker.js", "text/javascript; charset=utf-8")
        case .library: ("/belfry.js", "text/javascript; charset=utf-8")
        case .readableLibrary: ("/belfry.debug.js", "text/javascript; charset=utf-8")
        case .libraryTypes: ("/belfry.d.ts", "text/plain; charset=utf-8")
        case .openAPI: ("/openapi.yaml", "application/yaml")
        case .openAPIJSON: ("/openapi.json", "application/json")
        case .asyncAPI: ("/asyncapi.yaml", "application/yaml")
        }
    }

    /// The policy of the pages: they may only talk to their own broker.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
        connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'
        """

    /// Every file that was built in, copied once in a process.
    static let files: [Asset: EmbeddedFile] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { asset in
            let bytes = Self.bytes(of: belfry_asset(asset.rawValue))
            let file = EmbeddedFile(
                bytes, contentType: asset.facts.contentType, compressed: asset.compressed)
            return bytes.isEmpty ? nil : (asset, file)
        })

    /// Loads all files, so that no request waits for them.
    static func prepare() { _ = (files, EmbeddedFile.ofFolders) }

    /// The file as it was compressed in advance, if it was.
    private var compressed: [UInt8]? {
        self == .library ? Self.bytes(of: belfry_asset_belfry_js_gzip) : nil
    }

    /// The bytes of a file; none where the broker was built without it.
    private static func bytes(of asset: belfry_asset) -> [UInt8] {
        (0..<belfry_asset_byte_count(asset)).map { belfry_asset_byte(asset, $0) }
    }
}
