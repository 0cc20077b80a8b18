/// The stored record of a center itself.
public struct CenterRecord: Sendable, Equatable {
    /// The epoch, which distinguishes its sequence numbers from those of other lives.
    public let epoch: [UInt8]

    /// Makes the record of an epoch.
    public init(epoch: [UInt8]) {
        self.epoch = epoch
    }
}
