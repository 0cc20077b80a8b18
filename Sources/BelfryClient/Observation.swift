/// The notifications that an observer gets, for one reader, and the token that removes it.
///
/// The sequence ends when the observer is removed by its owner, and throws when the connection or
/// the broker ends it. One that is read too slowly loses its oldest notifications: see
/// `ClientOptions.bufferCountLimit` and `ReceivedNotification.gapBefore`.
public struct Observation: AsyncSequence, Sendable {
    /// The public half of the token, such as `o17`; empty for an event stream.
    ///
    /// It is that of the first registration: an observer that has to be registered anew on another
    /// connection has another one then.
    public let id: String
    /// The secret that reads and removes the observer; empty for an event stream.
    public let token: String
    /// The notifications that it is registered for.
    public let filter: NotificationFilter
    /// The notification name of the filter; `nil` is any, or a choice of them.
    public var name: String? { filter.name }
    /// The object of the filter; `nil` is any, or a choice of them.
    public var object: String? { filter.object }
    /// The JSON-RPC method that its deliveries have.
    public let selector: String
    /// The address that gets its notifications; `nil` is this sequence.
    public internal(set) var target: String?

    /// The gaps that the broker reports, for one reader; the stream ends with the observer.
    ///
    /// The notification behind a gap has it too (`ReceivedNotification.gapBefore`), together with
    /// the notifications that were lost here because the sequence was read too slowly.
    public var gaps: AsyncStream<ReceivedNotification.Gap> { buffer.gaps }

    /// The position behind all that was taken of an event stream; another stream resumes there.
    ///
    /// The position exists from the stream's first byte on, and moves even where nothing is
    /// delivered.
    public var position: String? { buffer.position }

    let buffer: NotificationBuffer
    var remove: @Sendable () async throws(ClientError) -> Void
    /// Sends an answer to the broker; an event stream sends none.
    var answer: @Sendable (DeliveryAnswer) async throws(ClientError) -> Void = {
        (_) async throws(ClientError) in
    }

    /// Removes the observer; nothing comes out of the sequence afterwards.
    ///
    /// To remove it twice is no error.
    /// - Throws: `ClientError` when the broker did not answer; the sequence has ended all the same.
    public func removeObserver() async throws(ClientError) {
        try await remove()
    }

    /// Acknowledges a notification of an acknowledging observer: its poster learns of it.
    ///
    /// While there is no connection the answer is kept, and given when the broker asks again. Only
    /// the first answer to a notification counts.
    /// - Throws: `ClientError` when the answer cannot be passed on.
    public func acknowledge(_ notification: ReceivedNotification) async throws(ClientError) {
        try await answer(
            DeliveryAnswer(
                selector: selector, key: notification.owedKey, response: .acknowledgement))
    }

    /// Refuses a notification of an acknowledging observer for good: its poster learns why.
    ///
    /// - Throws: `ClientError` when the answer cannot be passed on.
    public func refuse(
        _ notification: ReceivedNotification, reason: String
    ) async throws(ClientError) {
        try await answer(
            DeliveryAnswer(
                selector: selector, key: notification.owedKey, response: .refused(reason)))
    }

    /// Calls a body with one notification after the other until the observer is removed.
    ///
    /// An acknowledging observer acknowledges each notification for which the body returns. If the
    /// body throws, the observer refuses it: with the reason of a `Refusal`, otherwise without one,
    /// because the poster may be a stranger. The body's errors are ignored for an observer that
    /// does not acknowledge.
    ///
    /// - Throws: `ClientError` when the sequence ends with one.
    public func handle(
        _ body: (ReceivedNotification) async throws -> Void
    ) async throws(ClientError) {
        for try await notification in self {
            do {
                try await body(notification)
            } catch {
                let reason = Refusal.reason(of: error, by: "observer")
                try await refuse(notification, reason: reason)
                continue
            }
            try await acknowledge(notification)
        }
    }

    /// Starts to read; two iterators share the notifications.
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: buffer)
    }

    /// Returns one notification after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: NotificationBuffer

        /// Waits for the next notification; `nil` after the observer's removal or a cancellation.
        public mutating func next() async throws(ClientError) -> ReceivedNotification? {
            try await buffer.next()
        }

        /// Waits for the next notification; `nil` after the observer's removal or a cancellation.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ClientError) -> ReceivedNotification? {
            try await buffer.next()
        }
    }
}
