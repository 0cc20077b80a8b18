import CBelfryAssets

/// A file at the top of the broker's URLs; the cases are in the order of `belfry_asset`.
enum Asset: UInt32, CaseIterable {
    case console
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
        case .library: ("/belfry.js", "text/javascript; charset=utf-8")
        case .readableLibrary: ("/belfry.debug.js", "text/javascript; charset=utf-8")
        case .libraryTypes: ("/belfry.d.ts", "text/plain; charset=utf-8")
        case .openAPI: ("/openapi.yaml", "application/yaml")
        case .openAPIJSON: ("/openapi.json", "application/json")
        case .asyncAPI: ("/asyncapi.yaml", "application/yaml")
        }
    }

    /// The policy of the console page: it may only talk to its own broker.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
        connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    /// Every file that was built in, copied once in a process.
    static let files: [Asset: EmbeddedFile] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { asset in
            let bytes = asset.bytes()
            let file = EmbeddedFile(bytes, contentType: asset.facts.contentType)
            return bytes.isEmpty ? nil : (asset, file)
        })

    /// Loads all files, so that no request waits for them.
    static func prepare() { _ = (files, EmbeddedFile.ofConsole) }

    /// The bytes of the file; none where the broker was built without it.
    private func bytes() -> [UInt8] {
        let asset = belfry_asset(rawValue)
        return (0..<belfry_asset_byte_count(asset)).map { belfry_asset_byte(asset, $0) }
    }
}
