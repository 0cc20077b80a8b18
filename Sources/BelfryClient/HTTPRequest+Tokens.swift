internal import BelfryHTTP
internal import BelfryJSON

// The token of a registration removes or reads its observer, that of a mode leaves the mode. Its
// secret half is sent in a field, where no log of paths has it.
extension HTTPRequest {
    /// Removes an observer: with its token, or with its id and the grant `admin`.
    ///
    /// - Throws: `ClientError.invalidToken`.
    public static func removeObserver(_ token: String) throws(ClientError) -> HTTPRequest {
        var request = delete("observers/\(segment(publicHalf(of: token)))")
        try request.show(token)
        return request
    }

    /// Leaves a mode: with its token, or with its id and the grant `admin`.
    public static func leaveMode(_ token: String) -> HTTPRequest {
        delete("modes/\(segment(token))")
    }

    /// Makes a mailbox: an observer without a connection that keeps its notifications.
    ///
    /// They are kept until they are acknowledged.
    ///
    /// - Parameters:
    ///   - name: the notification name; `nil` is any.
    ///   - object: the object; `nil` is any.
    ///   - since: the place in the past where it begins; the mailbox gets the newest of that, as
    ///     far as its limits go, and a gap for the rest.
    ///   - options: its lease, what it holds and how; a mailbox has the lifetime `token`.
    public static func mailbox(
        forName name: String?, object: String?, since: Beginning? = nil,
        options: ObserverOptions = ObserverOptions()
    ) -> HTTPRequest {
        mailbox(
            for: NotificationFilter(name: name, object: object), since: since, options: options)
    }

    /// Makes a mailbox for the notifications that a filter matches.
    ///
    /// - Parameters:
    ///   - filter: their names and objects, also by how they begin, and a condition.
    ///   - since: the place in the past where it begins; the mailbox gets the newest of that, as
    ///     far as its limits go, and a gap for the rest.
    ///   - options: its lease, what it holds and how; a mailbox has the lifetime `token`.
    public static func mailbox(
        for filter: NotificationFilter, since: Beginning? = nil,
        options: ObserverOptions = ObserverOptions()
    ) -> HTTPRequest {
        var terms = options
        terms.lifetime = .token
        let content = RPCRequest.params { writer, bytes in
            filter.write(&writer, &bytes, omitsAny: true)
            terms.write(&writer, &bytes)
            since?.write(&writer, &bytes)
        }
        var request = post("observers", json: content)
        request.form = .object(["id", "token"])
        return request
    }

    /// Reads the mailbox with this token.
    ///
    /// - Parameters:
    ///   - after: acknowledges notifications with this `seq` or a lower one, which are then gone.
    ///   - limit: how many notifications the answer has at most, 1 to 1,000.
    ///   - wait: how long an empty mailbox waits for its first notification, at most 60 seconds.
    /// - Throws: `ClientError.invalidToken`.
    public static func mailboxContent(
        _ token: String, after: UInt64? = nil, limit: Int? = nil, wait: Duration? = nil
    ) throws(ClientError) -> HTTPRequest {
        var request = get("observers/\(segment(publicHalf(of: token)))/notifications")
        request.form = .object(["notifications", "next"])
        try request.show(token)
        if let after { request.query.append(("after", "\(after)")) }
        if let limit { request.query.append(("limit", "\(limit)")) }
        request.prefer(wait: wait)
        return request
    }

    /// The half of a token before its secret, which may be shown in paths.
    package static func publicHalf(of token: String) -> String {
        String(token.prefix { $0 != "." })
    }

    /// Shows the secret of a token; an id has none.
    private mutating func show(_ token: String) throws(ClientError) {
        // It becomes the value of a field.
        guard 1...8_192 ~= token.utf8.count, token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw .invalidToken
        }
        let secret = token.drop { $0 != "." }.dropFirst()
        if !secret.isEmpty { fields.append(HTTPField("Belfry-Token", String(secret))) }
    }
}
