import BelfryAccess

/// Somebody who asks for things and is counted as one: callers without credentials are told apart by their
/// address.
enum Asker: Hashable, Sendable {
    case principal([UInt8])
    case address(NetworkAddress)
}
