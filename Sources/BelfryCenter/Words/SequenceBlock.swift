/// The block of sequence numbers that a center reserves at a time, ahead of their use.
enum SequenceBlock {
    /// The count of its numbers.
    static let length: UInt64 = 1 << 20
}
