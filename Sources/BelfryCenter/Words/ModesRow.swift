/// The modes of a center as they are shown.
public struct ModesRow: Sendable, Equatable {
    /// The mode that the queue waits in.
    public let current: [UInt8]
    /// The leases, outermost first.
    public let stack: [Lease]
    /// The modes that `common` stands for.
    public let common: [[UInt8]]

    /// A mode lease as it is shown.
    public struct Lease: Sendable, Equatable {
        /// Its number; `m3` has 3.
        public let serial: UInt64
        /// The mode.
        public let mode: [UInt8]
        /// The client whose connection it ends with; nil for one that was entered over HTTP.
        public let client: UInt64?
        /// The hash of the secret half of its token.
        public let tokenHash: SecretHash
    }
}
