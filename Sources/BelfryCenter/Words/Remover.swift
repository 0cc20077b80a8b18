/// The remover of an observer (rule O9).
public enum Remover: Sendable, Equatable {
    /// A client, by its number.
    case client(UInt64)
    /// A caller over HTTP, as access control named it.
    case principal([UInt8])
    /// The broker itself.
    case broker
}
