/// The distance of two names, in letters that are added, left out, changed or swapped.
///
/// A letter may be swapped with the next one.
public enum EditDistance {
    /// The longest names that are compared, in bytes: the search follows a few hundred paths.
    ///
    /// Each path is as long as the names.
    public static let byteLimit = 64

    /// Whether one name may be a typing error for the other.
    ///
    /// Two edits make one of the other, or one where neither has more than four bytes, or none
    /// where neither has more than two.
    public static func isSlip(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Bool {
        let byteCount = max(first.count, second.count)
        guard byteCount <= byteLimit else { return false }
        return isWithin(byteCount > 4 ? 2 : byteCount > 2 ? 1 : 0, first, 0, second, 0)
    }

    /// Whether so many edits at most make the rest of one name the rest of the other.
    private static func isWithin(
        _ edits: Int, _ first: Span<UInt8>, _ firstPlace: Int, _ second: Span<UInt8>,
        _ secondPlace: Int
    ) -> Bool {
        var (i, j) = (firstPlace, secondPlace)
        while i < first.count, j < second.count, first[i] == second[j] {  // Bound: bytes
            i += 1
            j += 1
        }
        let (firstRest, secondRest) = (first.count - i, second.count - j)
        if firstRest == 0 || secondRest == 0 { return max(firstRest, secondRest) <= edits }
        guard edits > 0, abs(firstRest - secondRest) <= edits else { return false }
        let isSwapped =
            firstRest > 1 && secondRest > 1 && first[i] == second[j + 1]
            && first[i + 1] == second[j]
        return isWithin(edits - 1, first, i + 1, second, j + 1)
            || isWithin(edits - 1, first, i + 1, second, j)
            || isWithin(edits - 1, first, i, second, j + 1)
            || isSwapped && isWithin(edits - 1, first, i + 2, second, j + 2)
    }
}
