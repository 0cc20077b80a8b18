/// What can be seen of the modes of a center.
public struct ModesRow: Sendable, Equatable {
    /// The mode that the queue waits in.
    public let current: [UInt8]
    /// The leases, outermost first.
    public let stack: [Lease]
    /// The modes that `common` stands for.
    public let common: [[UInt8]]

    /// What can be seen of a mode lease.
    public struct Lease: Sendable, Equatable {
        /// Its number; `m3` has 3.
        public let serial: UInt64
        /// The mode.
        public let mode: [UInt8]
        /// The client whose connection it ends with, if it is one's.
        public let client: UInt64?
        /// The hash of the secret half of its token.
        public let tokenHash: SecretHash
    }
}
