internal import BelfryHTTP

// Archives without a center, one request each: what `RemoteCenter` has as methods.
extension HTTPRequest {
    /// Makes an archive, or changes its bounds.
    public static func putArchive(
        _ name: ArchiveName, _ terms: ArchiveTerms = ArchiveTerms()
    ) -> HTTPRequest {
        var request = ofArchive(.put, name, content: terms.json, answer: row)
        request.fields = [HTTPField("Content-Type", "application/json")]
        return request
    }

    /// Reads an archive, with what it keeps.
    public static func archive(_ name: ArchiveName) -> HTTPRequest {
        ofArchive(.get, name, answer: row)
    }

    /// Lists the archives; the cursor is the `next` of the page before.
    public static func archives(cursor: String? = nil) -> HTTPRequest {
        var request = get("archives")
        request.form = .object(["archives"])
        request.query = [("limit", "1000")]
        if let cursor { request.query.append(("cursor", cursor)) }
        return request
    }

    /// Removes an archive, with all that it keeps.
    public static func removeArchive(_ name: ArchiveName) -> HTTPRequest {
        ofArchive(.delete, name, answer: .nothing)
    }

    /// Reads a page of what is kept.
    public static func past(_ query: PastQuery) -> HTTPRequest {
        var request = get("notifications")
        request.form = .object(["notifications", "seq", "epoch"])
        request.query = query.parameters
        return request
    }

    /// Removes notifications from all that is kept; parameters as for `RemoteCenter`.
    public static func removeNotifications(_ query: PastQuery, id: String? = nil) -> HTTPRequest {
        var request = HTTPRequest(.delete, "notifications", answer: .object(["removed"]))
        request.query = query.parameters
        if let id { request.query.append(("id", id)) }
        return request
    }

    /// An archive as an answer has it.
    private static let row = AnswerForm.object(["bytes", "since"])

    private static func ofArchive(
        _ method: HTTPMethod, _ name: ArchiveName, content: [UInt8] = [], answer form: AnswerForm
    ) -> HTTPRequest {
        switch name {
        case .exactly(let name):
            return HTTPRequest(
                method, "archives/\(segment(name))", content: content, answer: form)
        case .prefix(let prefix):
            var request = HTTPRequest(
                method, "archives/\(segment(prefix))", content: content, answer: form)
            request.query = [("prefix", "true")]
            return request
        }
    }
}
