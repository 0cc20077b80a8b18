/// Durations and sizes as people write them in options: `8s`, `500ms`, `24h`; `1MiB`.
enum Quantity {
    private static let nanosecondsOfUnits: [(unit: String, factor: Int64)] = [
        ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]
    private static let bytesOfUnits: [(unit: String, factor: Int)] = [
        ("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ]

    /// Reads a whole number with one of the units ms, s, m, h and d.
    static func duration(_ text: String) -> Duration? {
        guard let (number, unit) = split(text),
            let factor = nanosecondsOfUnits.first(where: { $0.unit == unit })?.factor
        else { return nil }
        let (product, isOverflow) = Int64(number).multipliedReportingOverflow(by: factor)
        return isOverflow ? nil : .nanoseconds(product)
    }

    /// Reads a whole number of bytes, or one with a unit from B to GiB.
    static func byteCount(_ text: String) -> Int? {
        guard let (number, unit) = split(text),
            let factor = bytesOfUnits.first(where: { $0.unit == unit })?.factor
        else { return nil }
        let (product, isOverflow) = number.multipliedReportingOverflow(by: factor)
        return isOverflow ? nil : product
    }

    /// Reads a whole number that is not negative.
    static func count(_ text: String) -> Int? {
        guard let (number, unit) = split(text), unit.isEmpty else { return nil }
        return number
    }

    /// Writes a duration in the largest unit that it has a whole number of.
    static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        let fitting = nanosecondsOfUnits.last { nanoseconds % $0.factor == 0 && nanoseconds > 0 }
        guard let (unit, factor) = fitting else { return "\(nanoseconds / 1_000_000)ms" }
        return "\(nanoseconds / factor)\(unit)"
    }

    /// Writes a size in the largest unit that it has a whole number of.
    static func text(byteCount: Int) -> String {
        let fitting = bytesOfUnits.last { byteCount % $0.factor == 0 && byteCount > 0 }
        guard let (unit, factor) = fitting, factor > 1 else { return "\(byteCount)" }
        return "\(byteCount / factor)\(unit)"
    }

    private static func split(_ text: String) -> (number: Int, unit: String)? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let number = Int(String(Substring(digits))) else { return nil }
        return (number, String(text.utf8.dropFirst(digits.count)) ?? "")
    }
}
