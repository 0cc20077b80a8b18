/// The rows of a table: each is made of its number, so that no array keeps them.
///
/// Row 7 is `{"n":7,"name":"Row 7","value":0}` until it is touched.
struct Rows: Sendable {
    /// How many there are.
    let count: Int
    /// How often each row was touched; most never were.
    private var touches: [Int: Int] = [:]

    init(count: Int) {
        self.count = count
    }

    /// Touches a row.
    mutating func touch(_ row: Int) {
        guard row >= 0, row < count else { return }
        touches[row, default: 0] += 1
    }

    /// The rows from one on, as a JSON array of at most so many; past the last there are none.
    func json(from first: Int, count wanted: Int, limit: Int = 200) -> String {
        let start = min(max(first, 0), count)
        let end = min(count, start + min(max(wanted, 0), limit))
        let rows = (start..<end).map { row in
            #"{"n":\#(row),"name":"Row \#(row)","value":\#(touches[row] ?? 0)}"#
        }
        return "[" + rows.joined(separator: ",") + "]"
    }
}
