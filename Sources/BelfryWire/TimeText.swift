/// Times as people read them: RFC 3339 in UTC with milliseconds, always 24 bytes.
public enum TimeText {
    /// The times that four digits of a year can tell; others are cut to them.
    private static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Appends a time in milliseconds since 1970, as in `2026-11-21T08:00:00.000Z`.
    public static func append(milliseconds: Int64, to output: inout [UInt8]) {
        let start = output.count
        output.append(contentsOf: blank)
        write(milliseconds: milliseconds, over: &output, at: start)
    }

    private static let blank = [UInt8]("0000-00-00T00:00:00.000Z".utf8)

    /// Writes the digits of a time over those of another, which stands at `start`.
    static func write(milliseconds: Int64, over output: inout [UInt8], at start: Int) {
        var text = output.mutableSpan
        precondition(
            start >= 0 && text.count >= 24 && start <= text.count &- 24, "24 bytes are there")
        let time = min(max(milliseconds, range.lowerBound), range.upperBound)
        // The epoch moves to 0000-01-01, so that every division below is of a natural number.
        let sinceYearZero = UInt64(time - range.lowerBound)
        let date = civilDate(daysSinceYearZero: sinceYearZero / 86_400_000)
        let ofDay = sinceYearZero % 86_400_000
        write(date.year / 100, at: start, over: &text)
        write(date.year % 100, at: start &+ 2, over: &text)
        write(date.month, at: start &+ 5, over: &text)
        write(date.day, at: start &+ 8, over: &text)
        write(ofDay / 3_600_000, at: start &+ 11, over: &text)
        write(ofDay / 60_000 % 60, at: start &+ 14, over: &text)
        write(ofDay / 1_000 % 60, at: start &+ 17, over: &text)
        write(ofDay / 10 % 100, at: start &+ 20, over: &text)
        text[start &+ 22] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: ofDay % 10)
    }

    /// The Gregorian date of a day, counted from 0000-01-01.
    ///
    /// The year begins in March, so that the leap day is its last and the months follow one line
    /// (E. G. Richards, "Calendars", in the form of H. Hinnant's `civil_from_days`).
    private static func civilDate(
        daysSinceYearZero: UInt64
    ) -> (year: UInt64, month: UInt64, day: UInt64) {
        // Year 0 has a leap day, so its March begins 60 days in; one more era of 400 years keeps
        // the count natural.
        let days = daysSinceYearZero + 146_097 - 60
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0) - 400
        return (year, month, day)
    }

    /// Writes two digits.
    @inline(__always)
    private static func write(
        _ value: UInt64, at index: Int, over text: inout MutableSpan<UInt8>
    ) {
        text[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 10)
        text[index &+ 1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10)
    }
}
