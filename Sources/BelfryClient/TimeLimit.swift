/// Limits the time of work that may not end by itself.
enum TimeLimit {
    /// Runs a body; when the time is over its task is cancelled, and a late result is ignored.
    ///
    /// - Throws: `ClientError.timedOut`, `cancelled`, and the errors of the body.
    static func run<Value: Sendable>(
        _ time: Duration, _ body: @escaping @Sendable () async throws(ClientError) -> Value
    ) async throws(ClientError) -> Value {
        let (outcomes, ended) = AsyncStream.makeStream(of: Result<Value, ClientError>.self)
        let working = Task {
            do throws(ClientError) {
                ended.yield(.success(try await body()))
            } catch {
                ended.yield(.failure(error))
            }
        }
        let waiting = Task {
            try await Task.sleep(for: time)
            ended.yield(.failure(.timedOut))
        }
        defer {
            working.cancel()
            waiting.cancel()
        }
        for await outcome in outcomes { return try outcome.get() }
        throw .cancelled
    }
}
