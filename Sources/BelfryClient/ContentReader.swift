internal import BelfryLoop
internal import Synchronization

/// Hands over the content of an answer as it comes on another thread, or keeps that of a refusal.
final class ContentReader: Sendable {
    private struct State {
        var answer = HTTPAnswer()
        var isOver = false
    }

    private let state = Mutex(State())
    private let form: AnswerForm
    private let stop: LoopWake
    private let take: @Sendable ([UInt8]) -> Bool

    init(
        _ form: AnswerForm, stop: LoopWake, _ take: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        self.form = form
        self.stop = stop
        self.take = take
    }

    func take(_ event: ExchangeEvent) {
        switch event {
        case .head(let head):
            state.withLock { $0.answer.head = head }
        case .content(let bytes):
            let isWanted = state.withLock { state in
                if state.isOver { return false }
                if isWhatWasAsked(state.answer) { return true }
                // No refusal is long.
                if state.answer.content.count < 1 << 16 { state.answer.content += bytes }
                return false
            }
            if isWanted, !take(bytes) { end() }
        }
    }

    /// Ends the connection; nothing more is handed over.
    func end() {
        state.withLock { $0.isOver = true }
        stop.signal()
    }

    /// Why the content is not whole, once the connection has ended by itself.
    var fault: ClientError? {
        state.withLock { state in
            if state.isOver { return .connectionLost }
            return isWhatWasAsked(state.answer) ? nil : state.answer.refusal
        }
    }

    private func isWhatWasAsked(_ answer: HTTPAnswer) -> Bool {
        answer.isSuccess && form.fits(answer.head, nil)
    }
}
