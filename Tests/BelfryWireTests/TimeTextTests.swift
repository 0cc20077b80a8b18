import BelfryWire
import Testing

@Suite("TimeText (RFC 3339 §5.6)")
struct TimeTextTests {
    @Test(
        "a time is told in UTC with milliseconds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1, "1970-01-01T00:00:00.001Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (4_107_456_000_000, "2100-02-28T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_795_248_000_000, "2026-11-21T08:00:00.000Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (Int64.max, "9999-12-31T23:59:59.999Z"),
            (Int64.min, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func text(milliseconds: Int64, expected: String) {
        var bytes: [UInt8] = []
        TimeText.append(milliseconds: milliseconds, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }
}
