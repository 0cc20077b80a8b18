import BelfryWebSocket
import CBelfryAssets

/// A file that is built into the broker.
enum Asset: Equatable, CaseIterable {
    case console
    case consoleScript
    case library
    case openAPI
    case openAPIJSON
    case asyncAPI

    /// Where the file is found.
    var path: String {
        switch self {
        case .console: "/"
        case .consoleScript: "/console.js"
        case .library: "/belfry.js"
        case .openAPI: "/openapi.yaml"
        case .openAPIJSON: "/openapi.json"
        case .asyncAPI: "/asyncapi.yaml"
        }
    }

    var contentType: String {
        switch self {
        case .console: "text/html; charset=utf-8"
        case .consoleScript, .library: "text/javascript; charset=utf-8"
        case .openAPI, .asyncAPI: "application/yaml"
        case .openAPIJSON: "application/json"
        }
    }

    /// What the console page may do: nothing but talk to its own broker.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
        img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'
        """

    /// The bytes of every file, copied once a process.
    static let files = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.bytes()) })

    /// The same encoded with gzip, once a process.
    static let compressedFiles: [Asset: [UInt8]] = {
        let encoder = GzipEncoder()
        return files.compactMapValues { encoder.encode($0.span) }
    }()

    /// Makes both, so that no request waits for them.
    static func prepare() { _ = compressedFiles }

    /// The bytes of the file.
    func bytes() -> [UInt8] {
        let asset =
            switch self {
            case .console: belfry_asset_console
            case .consoleScript: belfry_asset_console_js
            case .library: belfry_asset_belfry_js
            case .openAPI: belfry_asset_openapi
            case .openAPIJSON: belfry_asset_openapi_json
            case .asyncAPI: belfry_asset_asyncapi
            }
        return (0..<belfry_asset_byte_count(asset)).map { belfry_asset_byte(asset, $0) }
    }
}
