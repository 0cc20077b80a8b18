import BelfryCenter

// What centers have done, as the metrics tell it.

extension Counters {
    /// Counts posts that were applied.
    mutating func countPosts(_ receipts: [Receipt]) {
        posts += UInt64(receipts.count)
        for receipt in receipts where receipt.matched == 0 && receipt.isPosted {  // Bound: batch
            unmatchedPosts += 1
        }
    }

    /// Counts observers that have come, or that have gone.
    mutating func countObservers(_ growth: Int) {
        if growth > 0 {
            registrations += UInt64(growth)
        } else {
            removals += UInt64(-growth)
        }
    }
}
