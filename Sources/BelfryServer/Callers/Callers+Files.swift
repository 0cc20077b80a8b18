import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// The files of the broker, and the page that is made for one name.

extension Callers {
    /// Answers with one of the broker's files.
    ///
    /// - Parameter isFixed: whether its path has its digest, so that it never needs to be loaded
    ///   again.
    mutating func sendAsset(
        _ asset: Asset, isFixed: Bool = false, to id: ConnectionID, _ outbox: inout Outbox
    ) throws(Problem) {
        guard let file = Asset.files[asset] else { throw Problem.unknownPath }
        // Scanners check the first page alone, and take any compression over TLS for BREACH.
        let isScanned = asset == .console && (exchange.origin?.isSecure ?? exchange.isSecure)
        let caching = isFixed ? "public, max-age=31536000, immutable" : "no-cache"
        var fields: [HTTPField] = []
        switch asset {
        case .console: fields = Self.pageFields(Asset.contentSecurityPolicy)
        case .library:
            fields = Self.libraryFields + [HTTPField("Content-Location", Self.fixedLibraryName)]
        case .readableLibrary: fields = Self.libraryFields
        case .libraryTypes, .openAPI, .openAPIJSON, .asyncAPI: break
        }
        send(file, fields, caching: caching, isPlain: isScanned, to: id, &outbox)
    }

    /// Answers with a module or the style of the console page.
    mutating func sendConsoleFile(to id: ConnectionID, _ outbox: inout Outbox) throws(Problem) {
        guard let name = exchange.path?.argument, let file = EmbeddedFile.ofConsole[name] else {
            throw Problem.unknownPath
        }
        send(file, [], caching: "no-cache", isPlain: false, to: id, &outbox)
    }

    /// Answers with a file, or with 304 if the client has it (RFC 9110 §13.1.2).
    private mutating func send(
        _ file: EmbeddedFile, _ fields: [HTTPField], caching: String, isPlain: Bool,
        to id: ConnectionID, _ outbox: inout Outbox
    ) {
        outbox.content.removeAll(keepingCapacity: true)
        let takesGzip = exchange.parser.head.acceptsGzip && !isPlain
        let compressed = takesGzip ? file.compressed : nil
        let content = compressed ?? file.plain
        var answer = Answer()
        answer.fields = [
            HTTPField("Cache-Control", caching),
            HTTPField("ETag", ValueTagText.text(content.tag)),
            HTTPField("X-Content-Type-Options", "nosniff"), HTTPField("Vary", "Accept-Encoding"),
        ]
        answer.fields += fields
        if exchange.hasSeen(content.tag) {
            answer.status = 304
            return connections.send(answer, to: id, exchange.reply, &outbox)
        }
        answer.contentType = .other(file.contentType)
        if compressed != nil { answer.fields.append(HTTPField("Content-Encoding", "gzip")) }
        connections.sendFile(content.bytes, answer, to: id, exchange.reply, &outbox)
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
    private static let libraryDigest = Asset.files[.library].map { $0.plain.tag.text } ?? ""

    /// Answers with the library at the path of its digest.
    ///
    /// Another digest is of another broker, whose page continues with the library of this one.
    mutating func sendFixedLibrary(
        to id: ConnectionID, _ outbox: inout Outbox
    ) throws(Problem) {
        if exchange.path?.argument == Array(Self.libraryDigest.utf8) {
            return try sendAsset(.library, isFixed: true, to: id, &outbox)
        }
        var answer = Answer(status: 307)
        // The path behind a proxy is unknown: a relative one leads to the file beside it.
        answer.fields = [
            HTTPField("Location", "belfry.js"), HTTPField("Cache-Control", "no-cache"),
        ]
        connections.send(answer, to: id, exchange.reply, &outbox)
    }

    /// Answers with the page that observes the names in the query.
    mutating func sendTryPage(
        to id: ConnectionID, _ outbox: inout Outbox
    ) throws(Problem) {
        var query = try Query(exchange.parser.head)
        func text(_ parameter: String) throws(Problem) -> [UInt8]? {
            guard let value = query.take(parameter) else { return nil }
            try requestReader.check(name: value, parameter: parameter)
            return value
        }
        let page = TryPage(
            name: try text("name"), object: try text("object"), center: try text("center"))
        try query.finish()
        outbox.content.append(contentsOf: page.text.utf8)
        var answer = Answer(contentType: .other("text/html; charset=utf-8"))
        answer.fields = [
            HTTPField("Cache-Control", "no-cache"), HTTPField("X-Content-Type-Options", "nosniff"),
        ]
        answer.fields += Self.pageFields(page.contentSecurityPolicy)
        connections.send(answer, to: id, exchange.reply, &outbox)
    }

    /// The policy of a page of the broker, and its referrer policy.
    private static func pageFields(_ policy: String) -> [HTTPField] {
        [
            HTTPField("Content-Security-Policy", policy),
            HTTPField("Referrer-Policy", "no-referrer"),
        ]
    }
}

extension Exchange {
    /// Whether the client has the content of this tag; a malformed field counts as no.
    fileprivate func hasSeen(_ tag: ValueTag) -> Bool {
        guard let text = joined("if-none-match") else { return false }
        return ValueTagText.tags(of: text.span, countsWeak: true)?.include(tag) ?? false
    }
}

extension ValueTag {
    /// The digits of the tag.
    fileprivate var text: String {
        String(decoding: ValueTagText.text(self).dropFirst().dropLast(), as: UTF8.self)
    }
}
