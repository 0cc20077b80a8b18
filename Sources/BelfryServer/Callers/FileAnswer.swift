import BelfryCenter
import BelfryHTTP
import BelfryWire

/// One of the broker's files, and the fields of the answer with it.
struct FileAnswer {
    let file: EmbeddedFile
    var fields: [HTTPField] = []
    /// The value of the Cache-Control field.
    var caching = "no-cache"
    /// Whether it is never sent compressed.
    var isPlain = false

    /// Finds a file at the top of the broker's URLs.
    ///
    /// - Parameters:
    ///   - isFixed: whether its path has its digest, so that it never needs to be loaded again.
    ///   - isSecure: whether the request came over TLS.
    init(_ asset: Asset, isFixed: Bool = false, isSecure: Bool = false) throws(Problem) {
        guard let file = Asset.files[asset] else { throw Problem.unknownPath }
        self.file = file
        // Scanners check the first page alone, and take any compression over TLS for BREACH.
        isPlain = asset == .console && isSecure
        if isFixed { caching = "public, max-age=31536000, immutable" }
        switch asset {
        case .console, .desk: fields = Self.pageFields(Asset.contentSecurityPolicy)
        case .library:
            fields = Self.libraryFields + [HTTPField("Content-Location", Self.fixedLibraryName)]
        case .readableLibrary: fields = Self.libraryFields
        case .deskWorker, .libraryTypes, .openAPI, .openAPIJSON, .asyncAPI: break
        }
    }

    /// Finds a file of a folder.
    init(_ folder: AssetFolder, named name: [UInt8]?) throws(Problem) {
        guard let name, let file = folder.files[name] else { throw Problem.unknownPath }
        self.file = file
    }

    /// The policy of a page of the broker, and its referrer policy.
    static func pageFields(_ policy: String) -> [HTTPField] {
        [
            HTTPField("Content-Security-Policy", policy),
            HTTPField("Referrer-Policy", "no-referrer"),
        ]
    }

    /// The fields of the library, minified or not: pages of every origin may load it.
    private static let libraryFields = [
        HTTPField("Cross-Origin-Resource-Policy", "cross-origin"),
        // Deno looks for the types there.
        HTTPField("X-TypeScript-Types", "./belfry.d.ts"),
    ]

    /// The name of the library for browsers under which it never changes.
    private static let fixedLibraryName = "belfry-\(libraryDigest).js"

    /// The digest of the library in its path.
    static let libraryDigest = Asset.files[.library].map { $0.plain.tag.text } ?? ""
}

extension ValueTag {
    /// The digits of the tag.
    fileprivate var text: String {
        String(decoding: ValueTagText.text(self).dropFirst().dropLast(), as: UTF8.self)
    }
}
