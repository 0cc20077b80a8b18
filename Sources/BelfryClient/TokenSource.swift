/// Returns the credentials for the broker: a key, or a JWT.
///
/// It is called before each connection and each ask; its task is cancelled when its result is not
/// needed any more.
public typealias TokenSource = @Sendable () async throws -> String

extension BrokerURL {
    /// The same broker with the credentials that the function returns; a late result is ignored.
    ///
    /// - Throws: `ClientError.noToken` when the function failed, `timedOut`, `cancelled`, and
    ///   `invalidToken`.
    func authenticated(
        by source: @escaping TokenSource, within time: Duration
    ) async throws(ClientError) -> BrokerURL {
        try await TimeLimit.run(time) { () async throws(ClientError) in
            let token: String
            do {
                token = try await source()
            } catch {
                throw ClientError.noToken(reason: "\(error)")
            }
            return try authenticated(by: token)
        }
    }
}
