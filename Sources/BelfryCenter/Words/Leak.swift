/// An observer that looks forgotten by its owner.
public struct Leak: Sendable, Equatable {
    /// The observer.
    public let observer: ObserverRow
    /// The reason why it looks forgotten.
    public let reason: Reason

    /// The reason why an observer looks forgotten.
    public enum Reason: Sendable, Equatable {
        /// Its client has another observer with the same name, object and selector.
        case duplicate
        /// Its client has been disconnected for longer than `orphanAfter`.
        case disconnected
        /// Its target has had no holder for longer than `orphanAfter`.
        case noTarget
        /// Its mailbox was not read for longer than `orphanAfter`.
        case neverLooked
    }
}
