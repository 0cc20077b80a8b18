/// Sums that stop at the end of their range: a deadline that no clock reaches is never.
extension Int {
    /// The sum, which stops at the end of the range.
    func adding(_ other: Int) -> Int {
        let (sum, isPastTheEnd) = addingReportingOverflow(other)
        if !isPastTheEnd { return sum }
        return other > 0 ? Int.max : Int.min
    }
}

extension Int64 {
    /// The time so many nanoseconds later; `Int64.max`, which is never, for nil and past the end.
    func adding(_ nanoseconds: Int64?) -> Int64 {
        guard let nanoseconds else { return Int64.max }
        let (time, isPastTheEnd) = addingReportingOverflow(Swift.max(nanoseconds, 0))
        return isPastTheEnd ? Int64.max : time
    }
}

extension Int64 {
    /// The difference; past an end of the range, that end.
    func subtracting(_ other: Int64) -> Int64 {
        let (difference, isOver) = subtractingReportingOverflow(other)
        return isOver ? (other > 0 ? .min : .max) : difference
    }
}

extension Duration {
    /// Its nanoseconds; `Int64.max`, which is endless, when they do not fit.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if isTooLong { return seconds > 0 ? Int64.max : 0 }
        let (sum, isPastTheEnd) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isPastTheEnd ? Int64.max : sum
    }
}
