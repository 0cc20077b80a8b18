/// The date format of HTTP: IMF-fixdate (RFC 9110 §5.6.7).
public enum HTTPDate {
    private static let days = "ThuFriSatSunMonTueWed"
    private static let months = "JanFebMarAprMayJunJulAugSepOctNovDec"

    /// Gives the 29 bytes of a date, as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter seconds: Seconds since the start of 1970 in UTC; the years 1970 to 9999 can be
    ///   written, and what lies outside becomes their first or last second.
    public static func bytes(secondsSince1970 seconds: Int) -> [UInt8] {
        let time = min(max(seconds, 0), 253_402_300_799)
        let day = time / 86_400
        let second = time % 86_400
        let date = civilDate(day: day)
        var output: [UInt8] = []
        output.reserveCapacity(29)
        appendName(day % 7, of: days, to: &output)
        output.append(contentsOf: ", ".utf8)
        appendDigits(date.day, count: 2, to: &output)
        output.append(ASCII.space)
        appendName(date.month - 1, of: months, to: &output)
        output.append(ASCII.space)
        appendDigits(date.year, count: 4, to: &output)
        output.append(ASCII.space)
        appendDigits(second / 3600, count: 2, to: &output)
        output.append(ASCII.colon)
        appendDigits(second / 60 % 60, count: 2, to: &output)
        output.append(ASCII.colon)
        appendDigits(second % 60, count: 2, to: &output)
        output.append(contentsOf: " GMT".utf8)
        return output
    }

    /// The date of a day since 1970, counted in eras of 400 years that begin on 1 March.
    private static func civilDate(day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let leapDays = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leapDays) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func appendName(_ index: Int, of names: String, to output: inout [UInt8]) {
        output.append(contentsOf: names.utf8.dropFirst(3 * index).prefix(3))
    }

    private static func appendDigits(_ number: Int, count: Int, to output: inout [UInt8]) {
        var divisor = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            output.append(ASCII.zero + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
