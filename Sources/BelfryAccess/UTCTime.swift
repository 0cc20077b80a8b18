/// Times as files have them: RFC 3339 in UTC.
enum UTCTime {
    /// Reads `2027-01-31T12:00:00Z`, with or without a fraction, as milliseconds since 1970.
    static func milliseconds(_ text: [UInt8]) -> Int64? {
        let pattern = Array("0000-00-00T00:00:00".utf8)
        guard text.count > pattern.count, text.last == UInt8(ascii: "Z") else { return nil }
        for (character, wanted) in zip(text, pattern) {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
            guard wanted == UInt8(ascii: "0") ? isDigit : character == wanted else { return nil }
        }
        func number(_ range: Range<Int>) -> Int64 {
            text[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        var fraction = text[pattern.count..<text.count - 1]
        var milliseconds: Int64 = 0
        if !fraction.isEmpty {
            guard fraction.removeFirst() == UInt8(ascii: "."), !fraction.isEmpty,
                fraction.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return nil }
            let digits = (fraction + [48, 48, 48]).prefix(3)
            milliseconds = digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
        }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), day >= 1, day <= lengths[Int(month) - 1], hour < 24,
            minute < 60, second < 60
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + milliseconds
    }

    /// Counts from the first of March, so that the day that some years have is the last one.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
