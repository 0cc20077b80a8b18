/// What lasts of a center itself.
public struct CenterRecord: Sendable, Equatable {
    /// What makes its sequence numbers different from those of other lives.
    public let epoch: [UInt8]

    /// Takes the epoch.
    public init(epoch: [UInt8]) {
        self.epoch = epoch
    }
}
