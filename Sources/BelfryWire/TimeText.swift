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

    /// Writes the digits of a time over those of another, which begins at `start`.
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

// Reading.
extension TimeText {
    /// The fault of a text that is no time.
    static let detail = "must be a time as in 2026-11-22T06:00:00Z or 2026-11-22T07:00:00+01:00"

    /// Reads a time with its offset (RFC 3339 §5.6), in milliseconds since 1970, rounded up.
    ///
    /// - Returns: nil for another text, and for a day that is in no calendar.
    static func milliseconds(of text: Span<UInt8>) -> Int64? {
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2),
            reader.take("-"), let day = reader.number(2), reader.take("T") || reader.take("t"),
            let hour = reader.number(2), reader.take(":"), let minute = reader.number(2),
            reader.take(":"), let second = reader.number(2),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd,
            (1...12).contains(month), day >= 1, day <= dayCount(of: month, in: year), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        let minutes = (days * 24 + hour) * 60 + minute - offset
        return (minutes * 60 + second) * 1_000 + fraction
    }

    private static func dayCount(of month: Int64, in year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        switch month {
        case 2: return isLeap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    /// The day of a date, as ``civilDate(daysSinceYearZero:)`` has it the other way.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let monthFromMarch = (month + 9) % 12
        // One era of 400 years more keeps the year 0 natural.
        let years = yearFromMarch + 400
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return years * 365 + years / 4 - years / 100 + years / 400 + dayOfYear - 719_468 - 146_097
    }

    /// Takes the parts of a time from the front.
    private struct DigitReader: ~Escapable {
        private let text: Span<UInt8>
        private var position = 0

        @_lifetime(copy text)
        init(_ text: Span<UInt8>) { self.text = text }

        var isAtEnd: Bool { position == text.count }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard position < text.count, text[position] == UInt8(ascii: character) else {
                return false
            }
            position += 1
            return true
        }

        mutating func number(_ count: Int) -> Int64? {
            var number: Int64 = 0
            for _ in 0..<count {
                guard let digit = digit() else { return nil }
                number = number * 10 + digit
            }
            return number
        }

        private mutating func digit() -> Int64? {
            guard position < text.count, (48...57).contains(text[position]) else { return nil }
            position += 1
            return Int64(text[position - 1] - 48)
        }

        /// The milliseconds of a fraction of a second, if there is one.
        mutating func fraction() -> Int64? {
            guard take(".") else { return 0 }
            var (milliseconds, count, hasMore): (Int64, Int, Bool) = (0, 0, false)
            while let digit = digit() {
                if count < 3 { milliseconds = milliseconds * 10 + digit }
                if count >= 3, digit > 0 { hasMore = true }
                count += 1
            }
            guard count > 0 else { return nil }
            for _ in min(count, 3)..<3 { milliseconds *= 10 }
            return milliseconds + (hasMore ? 1 : 0)
        }

        /// The minutes by which the time is ahead of UTC.
        mutating func offset() -> Int64? {
            if take("Z") || take("z") { return 0 }
            let isBehind = take("-")
            guard isBehind || take("+"), let hours = number(2), take(":"), let minutes = number(2),
                hours < 24, minutes < 60
            else { return nil }
            let offset = hours * 60 + minutes
            return isBehind ? -offset : offset
        }
    }
}
