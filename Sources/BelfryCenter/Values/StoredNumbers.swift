/// The numbers of earlier lives that were certainly stored (rules V10 and V15).
///
/// A crash leaves numbers behind that clients may have seen, and that were never stored. The next
/// life begins far above them, as numbers are reserved in blocks. So a number with a stored one
/// close above it is of the same life, and was stored before that one, however many restarts there
/// were since.
struct StoredNumbers: Footprinted, Sendable {
    /// The first and the last number of each close group, in ascending order.
    private var runs: [ClosedRange<UInt64>] = []
    /// The last number of earlier lives; higher ones are of this life.
    private(set) var end: UInt64 = 0

    /// A distance below the gap between the numbers of a crashed life and those of the next.
    ///
    /// A new block is reserved when half of the last one is used, and committed long before the
    /// other half is.
    static let reach = SequenceBlock.length / 4

    init() {}

    /// The bytes that the numbers cost.
    var footprint: Int {
        Footprint.array(of: runs.capacity, stride: MemoryLayout<ClosedRange<UInt64>>.stride)
    }

    /// Makes the table of a store's numbers, in any order, and of the last one that may be used.
    init(_ numbers: [UInt64], through end: UInt64) {
        self.end = end
        for number in numbers.sorted() {  // Bound: start
            if let last = runs.last, number - last.upperBound < Self.reach {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
    }

    /// Whether a number may have been seen but never stored.
    func mayBeLost(_ number: UInt64) -> Bool {
        guard number <= end else { return false }
        guard let run = runs.first(where: { $0.upperBound >= number }) else { return true }
        return number.addingReportingOverflow(Self.reach).partialValue <= run.lowerBound
    }

    /// Adds the whole table to a digest.
    func addDigest(to digest: inout StateDigest) {
        digest.add(end)
        digest.add(runs.count)
        for run in runs {  // Bound: snapshot
            digest.add(run.lowerBound)
            digest.add(run.upperBound)
        }
    }
}

extension StoredNumbers: Coded {
    init(_ known: StoredNumbers?, by coder: inout some Coder) throws(CodeError) {
        end = try coder(known?.end)
        let firsts: [UInt64] = try coder(known?.runs.map(\.lowerBound))
        let lasts: [UInt64] = try coder(known?.runs.map(\.upperBound))
        guard zip(firsts, lasts).allSatisfy({ $0 <= $1 }) else { throw .malformed }
        runs = zip(firsts, lasts).map { $0...$1 }
    }
}
