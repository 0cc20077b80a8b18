import BelfrySystem

/// Calls that block, on threads of their own.
enum Blocking {
    /// Waits for what a call returns.
    static func call<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SystemCallError) -> Value
    ) async throws(SystemCallError) -> Value {
        let result = await withCheckedContinuation { continuation in
            do throws(SystemCallError) {
                _ = try SystemThread {
                    do throws(SystemCallError) {
                        continuation.resume(
                            returning: Result<Value, SystemCallError>.success(try body()))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }
}
