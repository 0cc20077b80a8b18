/// Answers what the broker is shown: a key, or a JWT.
///
/// It is called before each connection and each ask; its task is cancelled when nobody waits for it any more.
public typealias TokenSource = @Sendable () async throws -> String

extension BrokerURL {
    /// The same broker, which is shown what this function answers now.
    ///
    /// - Throws: `ClientError.noToken` when the function failed, `cancelled` when its task was, and `invalidToken`.
    func authenticated(by source: TokenSource) async throws(ClientError) -> BrokerURL {
        let token: String
        do {
            token = try await source()
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw .noToken(reason: "\(error)")
        }
        return try authenticated(by: token)
    }
}
