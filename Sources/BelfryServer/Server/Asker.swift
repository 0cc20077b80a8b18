import BelfryAccess

/// The key of a quota: a principal, or the address of a caller without credentials.
enum Asker: Hashable, Sendable {
    case principal([UInt8])
    case address(NetworkAddress)
}
