import Testing

@testable import BelfryCenter

@Suite("EditDistance")
struct EditDistanceTests {
    @Test(
        "two edits make a slip, one of up to four bytes, and none of up to two",
        arguments: [
            ("order", "order", true), ("order", "ordr", true), ("order", "odrer", true),
            ("order", "orders", true), ("order", "oder", true), ("order", "oredr", true),
            ("order", "odre", true), ("order", "ode", true), ("order", "od", false),
            ("order", "orderers", false), ("order", "xxder", true), ("order", "xxxer", false),
            ("", "order", false), ("", "", true), ("a", "b", false), ("ab", "ba", false),
            ("ab", "ab", true), ("abc", "abd", true), ("abc", "acb", true), ("abc", "ade", false),
            ("abcd", "abce", true), ("abcd", "abfe", false), ("abcd", "abcde", true),
            ("abcde", "abcfg", true), ("straße", "strasse", true),
        ])
    func slips(first: String, second: String, isSlip: Bool) {
        let (a, b) = (Array(first.utf8), Array(second.utf8))
        #expect(Self.isSlip(a, b) == isSlip)
        #expect(Self.isSlip(b, a) == isSlip)
    }

    @Test("names of more bytes than the limit are not compared")
    func limit() {
        let longest = [UInt8](repeating: 7, count: EditDistance.byteLimit)
        let longer = longest + [7]
        #expect(Self.isSlip(longest, longest.dropLast()))
        #expect(!Self.isSlip(longer, longest))
        #expect(!Self.isSlip(longer, longer))
    }

    @Test("it finds what a table of all distances finds", arguments: 1...20)
    func table(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let first = Self.name(&generator)
            let second = Self.name(&generator)
            let edits = [0, 0, 0, 1, 1, 2, 2, 2][max(first.count, second.count)]
            let isSlip = Self.distance(first, second) <= edits
            #expect(Self.isSlip(first, second) == isSlip, "\(first) \(second)")
        }
    }

    private static func isSlip(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        EditDistance.isSlip(first.span, second.span)
    }

    private static func name(_ generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...7, using: &generator)).map { _ in
            UInt8.random(in: 97...99, using: &generator)
        }
    }

    /// The optimal string alignment distance, by the table of all beginnings.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var table = [[Int]](repeating: Array(0...b.count), count: a.count + 1)
        for i in 0..<a.count {
            table[i + 1][0] = i + 1
            for j in 0..<b.count {
                table[i + 1][j + 1] = min(
                    table[i][j] + (a[i] == b[j] ? 0 : 1), table[i][j + 1] + 1, table[i + 1][j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    table[i + 1][j + 1] = min(table[i + 1][j + 1], table[i - 1][j - 1] + 1)
                }
            }
        }
        return table[a.count][b.count]
    }
}
