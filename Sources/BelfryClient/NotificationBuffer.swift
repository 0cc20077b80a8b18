internal import Synchronization

/// The notifications that an observation has received and its reader has not taken, bounded.
///
/// The loop's thread never waits for a reader: one that does not keep up loses the oldest ones and
/// is told so. To stop reading from the connection instead would also stop the answers to requests
/// that the same reader waits for.
final class NotificationBuffer: Sendable {
    typealias Outcome = Result<ReceivedNotification?, ClientError>

    private struct State {
        var items: [ReceivedNotification] = []
        /// The items before this one are taken.
        var first = 0
        var byteCount = 0
        /// The notifications that were lost behind the last item.
        var gap: ReceivedNotification.Gap?
        var end: Outcome?
        /// The position behind all that was taken, of an event stream.
        var position: String?
        var waiters: [(number: UInt64, continuation: CheckedContinuation<Outcome, Never>)] = []
        var nextNumber: UInt64 = 0
    }

    /// Each gap when it is known.
    let gaps: AsyncStream<ReceivedNotification.Gap>
    private let gapContinuation: AsyncStream<ReceivedNotification.Gap>.Continuation
    private let state = Mutex(State())
    private let countLimit: Int
    private let byteLimit: Int

    /// Makes an empty one.
    init(_ options: ClientOptions) {
        countLimit = max(1, options.bufferCountLimit)
        byteLimit = options.bufferByteLimit
        (gaps, gapContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    /// Adds a notification at the end, and drops the oldest ones above the limit.
    ///
    /// A notification that must be answered is never dropped: the broker stops by itself when an
    /// observer owes it 1,000 answers.
    func append(_ notification: ReceivedNotification) {
        let waiter = state.withLock { state -> (CheckedContinuation<Outcome, Never>, Outcome)? in
            guard state.end == nil else { return nil }
            var notification = notification
            notification.gapBefore = state.gap
            state.gap = nil
            if !state.waiters.isEmpty {
                state.position = notification.eventID ?? state.position
                return (state.waiters.removeFirst().continuation, .success(notification))
            }
            state.items.append(notification)
            state.byteCount += notification.json.count
            while state.items.count - state.first > countLimit
                || (state.byteCount > byteLimit && state.items.count - state.first > 1)
            {
                let waiting = state.items[state.first...]
                guard let oldest = waiting.firstIndex(where: { $0.call == nil }) else { break }
                Self.drop(oldest, &state)
            }
            return nil
        }
        if let (continuation, outcome) = waiter { continuation.resume(returning: outcome) }
    }

    /// Notes the position behind the last notification; a reader reaches it after all of them.
    ///
    /// An empty position is ignored. One behind a gap waits until the reader has the gap: a stream
    /// that ends before is opened again in front of it.
    func note(position: String) {
        if position.isEmpty { return }
        state.withLock { state in
            if state.gap != nil { return }
            if state.first == state.items.count {
                state.position = position
            } else {
                state.items[state.items.count - 1].eventID = position
            }
        }
    }

    /// The position behind all that was taken.
    var position: String? { state.withLock { $0.position } }

    /// Notes that the broker did not deliver something.
    func append(_ gap: ReceivedNotification.Gap) {
        state.withLock { state in
            state.gap = state.gap.map { $0.joined(with: gap) } ?? gap
        }
        gapContinuation.yield(gap)
    }

    /// Ends the sequence: at once, or behind the notifications that wait.
    func finish(_ error: ClientError?, discarding: Bool) {
        let outcome: Outcome = error.map { .failure($0) } ?? .success(nil)
        let waiters = state.withLock { state in
            if state.end == nil { state.end = outcome }
            if discarding {
                state.items = []
                state.first = 0
                state.end = .success(nil)
            }
            defer { state.waiters = [] }
            return state.waiters
        }
        gapContinuation.finish()
        for waiter in waiters { waiter.continuation.resume(returning: outcome) }
    }

    /// Takes the oldest notification, or waits for the next one; `nil` at the end.
    func next() async throws(ClientError) -> ReceivedNotification? {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if let outcome = takeOrWait(number, continuation) {
                    continuation.resume(returning: outcome)
                }
            }
        } onCancel: {
            cancel(number)
        }
        return try outcome.get()
    }

    private func takeOrWait(
        _ number: UInt64, _ continuation: CheckedContinuation<Outcome, Never>
    ) -> Outcome? {
        state.withLock { state in
            if state.first < state.items.count {
                let item = state.items[state.first]
                Self.removeFirst(&state)
                state.position = item.eventID ?? state.position
                return .success(item)
            }
            if let end = state.end { return end }
            // A task that is cancelled before it waits finds its mark here, in the same lock.
            if Task.isCancelled { return .success(nil) }
            state.waiters.append((number, continuation))
            return nil
        }
    }

    private func cancel(_ number: UInt64) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: .success(nil))
    }

    private static func drop(_ place: Int, _ state: inout State) {
        let dropped = ReceivedNotification.Gap(lostCount: 1, reason: "overflow")
        let gap = state.items[place].gapBefore.map { $0.joined(with: dropped) } ?? dropped
        if place + 1 < state.items.count {
            let next = state.items[place + 1].gapBefore
            state.items[place + 1].gapBefore = next.map { gap.joined(with: $0) } ?? gap
        } else {
            state.gap = gap
        }
        if place == state.first { return removeFirst(&state) }
        state.byteCount -= state.items.remove(at: place).json.count
    }

    /// The array is moved together when half of it is taken, so that each step costs little.
    private static func removeFirst(_ state: inout State) {
        state.byteCount -= state.items[state.first].json.count
        state.first += 1
        if state.first == state.items.count || state.first > 64 + state.items.count / 2 {
            state.items.removeFirst(state.first)
            state.first = 0
        }
    }
}
