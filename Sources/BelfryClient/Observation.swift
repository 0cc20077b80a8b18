/// The notifications that an observer gets, for one reader, and the token that removes it.
///
/// The sequence ends when the observer is removed by its owner, and throws when the connection or
/// the broker ends it. One that is read too slowly loses its oldest notifications: see
/// `ClientOptions.bufferCountLimit` and `ReceivedNotification.gapBefore`.
public struct Observation: AsyncSequence, Sendable {
    /// The public half of the token, such as `o17`; empty for an event stream.
    public let id: String
    /// The secret that reads and removes the observer; empty for an event stream.
    public let token: String
    /// The notification name of the filter; `nil` is any.
    public let name: String?
    /// The object of the filter; `nil` is any.
    public let object: String?
    /// The JSON-RPC method that its deliveries have.
    public let selector: String

    let buffer: NotificationBuffer
    let remove: @Sendable () async throws(ClientError) -> Void

    /// Removes the observer; nothing comes out of the sequence afterwards.
    ///
    /// To remove it twice is no error.
    /// - Throws: `ClientError` when the broker did not answer; the sequence has ended all the same.
    public func removeObserver() async throws(ClientError) {
        try await remove()
    }

    /// Starts to read; two iterators share what comes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: buffer)
    }

    /// Takes one notification after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: NotificationBuffer

        /// Waits for the next notification; `nil` when the observer was removed, or on cancellation.
        public mutating func next() async throws(ClientError) -> ReceivedNotification? {
            try await buffer.next()
        }

        /// Waits for the next notification; `nil` when the observer was removed, or on cancellation.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ClientError) -> ReceivedNotification? {
            try await buffer.next()
        }
    }
}
