extension Range where Bound: FixedWidthInteger {
    /// The first place of those in order that is reached, or the end: all behind it are reached, too.
    ///
    /// - Complexity: O(log n) questions.
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
