import BelfryClient
import BelfryJSON
import BelfrySystem

/// What commands print.
enum Report {
    /// Writes one line to standard output at once.
    static func write(_ line: [UInt8]) throws(ToolError) {
        do throws(SystemCallError) {
            try StandardStream.output.write((line + [UInt8(ascii: "\n")]).span)
        } catch {
            throw ToolError(error)
        }
    }

    /// JSON on one line: line ends can only stand between its values.
    static func oneLine(_ json: [UInt8]) -> [UInt8] {
        json.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
    }

    /// Rows under their headings, in columns as wide as their widest cell.
    static func table(_ columns: [String], _ rows: [JSONObject]) -> String {
        let cells = rows.map { row in columns.map { cell(row.raw($0)) } }
        let lines = [columns.map { $0.uppercased() }] + cells
        let widths = columns.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            let padded = zip(line, widths).map { text, width in
                text + String(repeating: " ", count: width - text.count)
            }
            let joined = padded.joined(separator: "  ")
            return String(joined.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    /// A value as people read it: a string without quotation marks, and `-` for nothing.
    static func cell(_ json: [UInt8]?) -> String {
        guard let json, json != Array("null".utf8) else { return "-" }
        var reader = JSONReader()
        let bytes = (try? reader.readString(in: json.span)) ?? json
        return shown(String(decoding: bytes, as: UTF8.self))
    }

    /// A text on a terminal, which what came from somebody else must not steer.
    static func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    $0.properties.generalCategory == .control ? "\u{FFFD}" : $0
                }))
    }
}
