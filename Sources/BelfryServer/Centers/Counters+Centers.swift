import BelfryCenter

// The work of centers as metrics.

extension Counters {
    /// Counts posts that were applied.
    mutating func countPosts(_ receipts: [Receipt]) {
        posts += UInt64(receipts.count)
        for receipt in receipts where receipt.matched == 0 && receipt.isPosted {  // Bound: batch
            unmatchedPosts += 1
        }
    }

    /// Counts new observers, or removed ones.
    mutating func countObservers(_ growth: Int) {
        if growth > 0 {
            registrations += UInt64(growth)
        } else {
            removals += UInt64(-growth)
        }
    }
}
