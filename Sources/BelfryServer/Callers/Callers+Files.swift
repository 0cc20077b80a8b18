import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// The files of the broker, and the page that is made for one name.

extension Callers {
    /// Answers with a file, or with 304 if the client has it (RFC 9110 §13.1.2).
    mutating func send(
        _ asset: FileAnswer, to id: ConnectionID, _ context: inout LoopContext
    ) {
        let takesGzip = exchange.parser.head.acceptsGzip && !asset.isPlain
        let compressed = takesGzip ? asset.file.compressed : nil
        let content = compressed ?? asset.file.plain
        var answer = context.outbox.answers.make(.none)
        answer.fields = [
            HTTPField("Cache-Control", asset.caching),
            HTTPField("ETag", ValueTagText.text(content.tag)),
            HTTPField("X-Content-Type-Options", "nosniff"), HTTPField("Vary", "Accept-Encoding"),
        ]
        answer.fields += asset.fields
        if exchange.hasSeen(content.tag) {
            answer.status = 304
            return connections.send(answer, to: id, exchange.reply, &context)
        }
        answer.contentType = .other(asset.file.contentType)
        if compressed != nil { answer.fields.append(HTTPField("Content-Encoding", "gzip")) }
        connections.sendFile(content.bytes, answer, to: id, exchange.reply, &context)
    }

    /// Answers with the library at the path of its digest.
    ///
    /// Another digest is of another broker, whose page continues with the library of this one.
    mutating func sendFixedLibrary(
        to id: ConnectionID, _ context: inout LoopContext
    ) throws(Problem) {
        if exchange.path?.argument == Array(FileAnswer.libraryDigest.utf8) {
            return send(try FileAnswer(.library, isFixed: true), to: id, &context)
        }
        var answer = context.outbox.answers.make(status: 307, .none)
        // The path behind a proxy is unknown: a relative one leads to the file beside it.
        answer.fields = [
            HTTPField("Location", "belfry.js"), HTTPField("Cache-Control", "no-cache"),
        ]
        connections.send(answer, to: id, exchange.reply, &context)
    }

    /// Answers with the page that observes the names in the query.
    mutating func sendTryPage(
        to id: ConnectionID, _ context: inout LoopContext
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
        var answer = context.outbox.answers.make(.other("text/html; charset=utf-8"))
        answer.content.append(contentsOf: page.text.utf8)
        answer.fields = [
            HTTPField("Cache-Control", "no-cache"), HTTPField("X-Content-Type-Options", "nosniff"),
        ]
        answer.fields += FileAnswer.pageFields(page.contentSecurityPolicy)
        connections.send(answer, to: id, exchange.reply, &context)
    }
}

extension Exchange {
    /// Whether the client has the content of this tag; a malformed field counts as no.
    fileprivate func hasSeen(_ tag: ValueTag) -> Bool {
        guard let text = joined("if-none-match") else { return false }
        return ValueTagText.tags(of: text.span, countsWeak: true)?.include(tag) ?? false
    }
}
