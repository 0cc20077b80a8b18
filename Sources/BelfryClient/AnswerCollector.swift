internal import Synchronization

/// Gathers an answer whose parts arrive on another thread.
final class AnswerCollector: Sendable {
    private let state = Mutex(HTTPAnswer())

    func take(_ event: ExchangeEvent) {
        state.withLock { answer in
            switch event {
            case .head(let head): answer.head = head
            case .content(let bytes): answer.content += bytes
            }
        }
    }

    var answer: HTTPAnswer {
        state.withLock { $0 }
    }
}
