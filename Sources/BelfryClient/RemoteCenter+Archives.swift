// Archives, and what they keep: a request of its own each.
extension RemoteCenter {
    /// Makes an archive, which keeps what is posted from now on, or changes its bounds.
    ///
    /// ```
    /// var terms = ArchiveTerms()
    /// terms.count = 1_000
    /// try await center.putArchive(.exactly("Order"), terms)
    /// ```
    ///
    /// It needs the grant `admin`. What no longer fits the bounds goes.
    /// - Throws: `ClientError`; `refused` with the slug `archive-full` when the broker has no room.
    @discardableResult
    public func putArchive(
        _ name: ArchiveName, _ terms: ArchiveTerms = ArchiveTerms()
    ) async throws(ClientError) -> Archive {
        try Archive(json: try await content(of: .putArchive(name, terms)))
    }

    /// Reads an archive, with what it keeps; nil when there is none that this caller may see.
    ///
    /// - Throws: `ClientError`.
    public func archive(_ name: ArchiveName) async throws(ClientError) -> Archive? {
        let answer = try await HTTPRequest.archive(name).answer(from: requestURL())
        if answer.status == 404 { return nil }
        guard answer.isSuccess else { throw answer.refusal }
        return try Archive(json: answer.content)
    }

    /// Lists the archives that this caller may see.
    ///
    /// - Throws: `ClientError`.
    public func archives() async throws(ClientError) -> [Archive] {
        var archives: [Archive] = []
        var cursor: String?
        repeat {
            let json = try await content(of: .archives(cursor: cursor))
            guard let page = JSONObject(json) else { throw .notUnderstood }
            for row in page.objects("archives") { archives.append(try Archive(json: row.json)) }
            cursor = page.string("next")
        } while cursor != nil
        return archives
    }

    /// Removes an archive, with all that it keeps.
    ///
    /// - Throws: `ClientError`; `refused` when there is none.
    public func removeArchive(_ name: ArchiveName) async throws(ClientError) {
        _ = try await content(of: .removeArchive(name))
    }

    /// Reads a page of what is kept.
    ///
    /// ```
    /// var query: PastQuery? = PastQuery(name: "Order")
    /// while let wanted = query {
    ///     let page = try await center.past(wanted)
    ///     show(page.notifications)
    ///     query = wanted.following(page)
    /// }
    /// ```
    ///
    /// - Throws: `ClientError`; `refused` with the slug `not-archived` for a name of which nothing
    ///   is kept.
    public func past(_ query: PastQuery) async throws(ClientError) -> PastPage {
        try PastPage(json: try await content(of: .past(query)))
    }

    /// Removes notifications from all that is kept, and returns how many they were.
    ///
    /// It needs the grant `admin`. Nobody is given them any more who has not got them.
    ///
    /// - Parameters:
    ///   - query: the notifications: their names and objects, `after` and `before`; the broker
    ///     refuses what else it says.
    ///   - id: the only one to remove of these.
    /// - Throws: `ClientError`.
    @discardableResult
    public func removeNotifications(
        _ query: PastQuery, id: String? = nil
    ) async throws(ClientError) -> Int {
        let json = try await content(of: .removeNotifications(query, id: id))
        guard let count = JSONObject(json)?.integer("removed") else { throw .notUnderstood }
        return count
    }

    private func content(of request: HTTPRequest) async throws(ClientError) -> [UInt8] {
        try await request.successfulAnswer(from: requestURL())
    }
}
