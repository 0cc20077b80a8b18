/// The last notification that was written to a client on a connection.
public struct LastWritten: Sendable, Equatable {
    /// Its number; 0 if there was none.
    public let sequence: UInt64
    /// Whether the client may lack something of this number.
    ///
    /// It was written for several observers, and the connection may have ended between their
    /// frames; or a delivery of the same number still waited.
    public let isShared: Bool

    /// Joins both.
    public init(sequence: UInt64, isShared: Bool) {
        self.sequence = sequence
        self.isShared = isShared
    }

    /// Whether a client that has seen a number has seen all that was written to it.
    func isSeen(by seen: UInt64) -> Bool {
        isShared ? seen > sequence : seen >= sequence
    }
}

extension LastWritten: Blockless {}
