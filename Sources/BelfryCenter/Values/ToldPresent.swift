/// The present value that an observer was told, and whether its client has received it.
///
/// A present value has no number of its own. It borrows that of the registration, which its client
/// knows from the answer, or that of a change which its client may have seen before. So no number
/// tells by itself that it has come. What is dispatched behind it has a greater number than the
/// center had when it was written, and comes behind it on the line.
///
/// | its client comes back and names | it |
/// | --- | --- |
/// | a number above that of the center when it was written | has come |
/// | that number, or a lower one | may be lost: it comes again, `redelivered` |
/// | none | is not asked for |
struct ToldPresent: Sendable {
    /// Whether its observer comes out of a store, and has not had the present value since.
    var isRestored = false
    /// Whether the one that waits has a number that its client may know without it.
    var isBorrowed = false
    /// The number of the center when such a one was written, until its client is known to have it.
    private(set) var writtenAt: UInt64?

    /// Whether its client may not have what was written.
    var isInDoubt: Bool { writtenAt != nil }

    /// Notes that the present value that waits is written, while the center has a number.
    mutating func noteWritten(at sequence: UInt64) {
        if isBorrowed { writtenAt = sequence }
        isBorrowed = false
    }

    /// Takes the number that a client names when it comes back; tells whether what was written may
    /// not have come.
    mutating func mayBeMissing(after sequence: UInt64?) -> Bool {
        guard let writtenAt, let sequence else { return false }
        if sequence > writtenAt { self.writtenAt = nil }
        return sequence <= writtenAt
    }

    /// Adds what can be seen of it later.
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
