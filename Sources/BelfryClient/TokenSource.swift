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
        let (outcomes, ended) = AsyncStream.makeStream(of: Result<BrokerURL, ClientError>.self)
        let asking = Task { ended.yield(await outcome(of: source)) }
        let waiting = Task {
            try await Task.sleep(for: time)
            ended.yield(.failure(.timedOut))
        }
        defer {
            asking.cancel()
            waiting.cancel()
        }
        for await outcome in outcomes { return try outcome.get() }
        throw .cancelled
    }

    private func outcome(of source: TokenSource) async -> Result<BrokerURL, ClientError> {
        let token: String
        do {
            token = try await source()
        } catch {
            return .failure(.noToken(reason: "\(error)"))
        }
        return Result { () throws(ClientError) in try authenticated(by: token) }
    }
}
