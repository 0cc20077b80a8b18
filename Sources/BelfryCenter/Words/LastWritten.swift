/// The last notification that a client was written on a connection.
public struct LastWritten: Sendable, Equatable {
    /// Its number; 0 where there was none.
    public let sequence: UInt64
    /// Whether it was written for several observers, and the line may have ended between their frames; or something
    /// of the same number waited still.
    public let isShared: Bool

    /// Joins both.
    public init(sequence: UInt64, isShared: Bool) {
        self.sequence = sequence
        self.isShared = isShared
    }

    /// Whether a client that has seen a number has seen all that it was written.
    func isSeen(by seen: UInt64) -> Bool {
        isShared ? seen > sequence : seen >= sequence
    }
}

extension LastWritten: Blockless {}
