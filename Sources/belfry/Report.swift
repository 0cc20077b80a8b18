import BelfryClient
import BelfryJSON
import BelfrySystem

/// The output of commands.
enum Report {
    /// Writes one line to standard output at once.
    static func write(_ line: [UInt8]) throws(ToolError) {
        try write(PrintedLine(line))
    }

    /// Writes one line to standard output at once.
    static func write(_ line: PrintedLine) throws(ToolError) {
        do throws(SystemCallError) {
            try Screen.write(line, to: .output)
        } catch {
            throw ToolError(error)
        }
    }

    /// JSON on one line: line ends and tabs can only be between its values.
    static func oneLine(_ json: [UInt8]) -> [UInt8] {
        json.map { "\n\r\t".utf8.contains($0) ? UInt8(ascii: " ") : $0 }
    }

    /// Rows under their headings, in columns as wide as their widest cell.
    static func table(_ columns: [String], _ rows: [JSONObject]) -> String {
        let cells = rows.map { row in columns.map { cell($0, of: row) } }
        let lines = [columns.map(head)] + cells
        let widths = columns.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            let padded = zip(line, widths).map { text, width in
                text + String(repeating: " ", count: width - text.count)
            }
            let joined = padded.joined(separator: "  ")
            return String(joined.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    /// The head of a column: `stateSince` is `STATE SINCE`.
    private static func head(_ member: String) -> String {
        member.map { $0.isUppercase ? " \($0)" : $0.uppercased() }.joined()
    }

    /// A value of a row; for a name or an object that is none, the choice in its place.
    private static func cell(_ column: String, of row: JSONObject) -> String {
        if let prefix = row.string(column + "Prefix") { return Screen.safe(prefix) + "…" }
        let several = row.strings(column + "s")
        return several.isEmpty ? cell(row.raw(column)) : Screen.safe(several.joined(separator: ","))
    }

    /// A value as people read it: a string without quotation marks, and `-` for nothing.
    static func cell(_ json: [UInt8]?) -> String {
        guard let json, json != Array("null".utf8) else { return "-" }
        var reader = JSONReader()
        let bytes = (try? reader.readString(in: json.span)) ?? json
        return Screen.safe(String(decoding: bytes, as: UTF8.self))
    }
}
