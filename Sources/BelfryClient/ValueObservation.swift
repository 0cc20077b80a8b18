/// The changes of one value, for one reader, and the token that removes the observer.
///
/// The first one is the value as it is. The sequence ends when the observer is removed by its
/// owner, and throws when the connection or the broker ends it. Each change has the whole value: of
/// one that is read too slowly the oldest changes are lost, and `ReceivedNotification.gapBefore`
/// tells so.
public struct ValueObservation: AsyncSequence, Sendable {
    /// The object that has the value.
    public let object: String
    /// The keys of the observed place, joined by `.`; empty for the whole value.
    public let keyPath: String

    let observation: Observation

    /// The public half of the token, such as `o17`, as of the first registration.
    public var id: String { observation.id }
    /// The secret that removes the observer from anywhere.
    public var token: String { observation.token }

    /// Removes the observer; nothing comes out of the sequence afterwards.
    ///
    /// To remove it twice is no error.
    /// - Throws: `ClientError` when the broker did not answer; the sequence has ended all the same.
    public func removeObserver() async throws(ClientError) {
        try await observation.removeObserver()
    }

    /// Starts to read; two iterators share the changes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: observation.buffer)
    }

    /// Returns one change after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: NotificationBuffer

        /// Waits for the next change; `nil` when the observer was removed, or on cancellation.
        public mutating func next() async throws(ClientError) -> ValueChange? {
            guard let notification = try await buffer.next() else { return nil }
            return try ValueChange(notification)
        }

        /// Waits for the next change; `nil` when the observer was removed, or on cancellation.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ClientError) -> ValueChange? {
            try await next()
        }
    }
}
