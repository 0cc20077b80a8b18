/// The present value that an observer was sent, and whether its client has received it.
///
/// A present value has no number of its own. It borrows that of the registration, which its client
/// knows from the answer, or that of a change which its client may have seen before. So no number
/// proves its arrival. Later notifications have a number above that of the center when it was
/// written, and follow it on the connection.
///
/// | number that a returning client names | the present value |
/// | --- | --- |
/// | above that of the center when it was written | has arrived |
/// | that number, or a lower one | may be lost: it is sent again, `redelivered` |
/// | none | is not checked |
/// | none | is not asked for |
struct ToldPresent: Sendable {
    /// Whether its observer is restored from a store, and was not sent the present value since.
    var isRestored = false
    /// Whether the value that waits has a number that its client may know without it.
    var isBorrowed = false
    /// The center's number when a borrowed one was written, until its client is known to have it.
    private(set) var writtenAt: UInt64?

    /// Whether the client may lack the written value.
    var isInDoubt: Bool { writtenAt != nil }

    /// Notes that the waiting present value is written, with the present number of the center.
    mutating func noteWritten(at sequence: UInt64) {
        if isBorrowed { writtenAt = sequence }
        isBorrowed = false
    }

    /// Notes the number that a returning client names, and returns whether the value may be lost.
    mutating func mayBeMissing(after sequence: UInt64?) -> Bool {
        guard let writtenAt, let sequence else { return false }
        if sequence > writtenAt { self.writtenAt = nil }
        return sequence <= writtenAt
    }

    /// Adds all that can be observed of it later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(isRestored)
        digest.add(isBorrowed)
        digest.add(writtenAt ?? .max)
    }
}

extension ToldPresent: Coded {
    init(_ known: ToldPresent?, by coder: inout some Coder) throws(CodeError) {
        isRestored = try coder(known?.isRestored)
        guard coder.version >= 2 else { return }
        isBorrowed = try coder(known?.isBorrowed)
        writtenAt = try coder(known?.writtenAt)
    }
}
