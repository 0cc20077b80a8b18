extension Range where Bound: FixedWidthInteger {
    /// The first place that passes a test, or the end; all places behind it must pass, too.
    ///
    /// - Complexity: O(log n) tests.
    @inline(__always)
    func firstPlace(where isReached: (Bound) -> Bool) -> Bound {
        var low = lowerBound
        var high = upperBound
        while low < high {  // Bound: levels
            let middle = low + (high - low) / 2
            if isReached(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
