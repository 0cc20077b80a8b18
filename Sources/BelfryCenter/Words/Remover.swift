/// Who removed an observer (rule O9).
public enum Remover: Sendable, Equatable {
    /// A client, by its number.
    case client(UInt64)
    /// Somebody over HTTP, as access control named them.
    case principal([UInt8])
    /// The broker itself.
    case broker
}
