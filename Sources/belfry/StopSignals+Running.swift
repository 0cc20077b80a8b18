import BelfryClient

extension StopSignals {
    /// Runs a body in a task that a signal cancels.
    func run<Value: Sendable, Fault: Error>(
        _ body: @escaping @Sendable () async throws(Fault) -> Value
    ) async throws(Fault) -> Value {
        let work = Task { () -> Result<Value, Fault> in
            do throws(Fault) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        let stopping = Task {
            if await wait() { work.cancel() }
        }
        defer { stopping.cancel() }
        return try await work.value.get()
    }
}
