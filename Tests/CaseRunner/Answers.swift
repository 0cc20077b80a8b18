import BelfryClient

/// Handlers that wait for the step which says what they answer.
actor Answers {
    private var waiting:
        [(number: Int, id: String, continuation: CheckedContinuation<JSONObject?, Never>)] = []
    private var lastNumber = 0

    /// Waits for the answer of the handler of a notification; nil when its task is cancelled.
    func answer(to id: String) async -> JSONObject? {
        lastNumber += 1
        let number = lastNumber
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: nil) }
                waiting.append((number, id, continuation))
            }
        } onCancel: {
            Task { await self.end(number) }
        }
    }

    /// Gives an answer to the handler that has waited longest, or to that of a notification.
    func give(_ answer: JSONObject, to id: String?) {
        guard let place = waiting.firstIndex(where: { id == nil || $0.id == id }) else { return }
        waiting.remove(at: place).continuation.resume(returning: answer)
    }

    private func end(_ number: Int) {
        guard let place = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: place).continuation.resume(returning: nil)
    }
}
