/// An observer that looks as if somebody forgot it.
public struct Leak: Sendable, Equatable {
    /// The observer.
    public let observer: ObserverRow
    /// Why it looks so.
    public let reason: Reason

    /// Why an observer looks forgotten.
    public enum Reason: Sendable, Equatable {
        /// Its client has another one with the same name, object and selector.
        case duplicate
        /// Its client has been disconnected for longer than `orphanAfter`.
        case disconnected
        /// Nobody has held its target for longer than `orphanAfter`.
        case noTarget
        /// Nobody has looked into its mailbox for longer than `orphanAfter`.
        case neverLooked
    }
}
