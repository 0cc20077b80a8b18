import Testing

@testable import table_source

@Suite("Rows")
struct RowsTests {
    private let rows = Rows(count: 3)

    @Test("rows are told by their numbers, and past the last there are none")
    func json() {
        #expect(
            rows.json(from: 1, count: 1) == #"[{"n":1,"name":"Row 1","value":0}]"#)
        #expect(rows.json(from: 2, count: 9) == #"[{"n":2,"name":"Row 2","value":0}]"#)
        #expect(rows.json(from: 3, count: 9) == "[]" && rows.json(from: -1, count: 0) == "[]")
        #expect(Rows(count: 9).json(from: 0, count: 9, limit: 2).contains(#""n":1"#))
        #expect(!Rows(count: 9).json(from: 0, count: 9, limit: 2).contains(#""n":2"#))
    }

    @Test("a row that is touched has another value; one that is not there has none")
    func touch() {
        var rows = rows
        rows.touch(1)
        rows.touch(1)
        rows.touch(3)
        #expect(rows.json(from: 1, count: 1) == #"[{"n":1,"name":"Row 1","value":2}]"#)
        #expect(rows.json(from: 3, count: 1) == "[]")
    }

    @Test(
        "a number is found by its key",
        arguments: [
            (#"{"first":12,"count": 7}"#, 12, 7), (#"{"count":0}"#, nil, 0), ("{}", nil, nil),
        ] as [(String, Int?, Int?)])
    func number(json: String, first: Int?, count: Int?) {
        #expect(Source.number("first", in: json) == first)
        #expect(Source.number("count", in: json) == count)
    }
}
