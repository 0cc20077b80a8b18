import BelfryJSON
import BelfrySystem

// Tells which conditions a userInfo fulfils, for Tests/Where/where.py to compare.
//
// A line of its input has a userInfo behind a `u`, or nothing where there is none; or a condition
// behind a `c`, which is about the userInfo above. It prints a line for each condition: `true`,
// `false`, or the pointer to its fault behind an exclamation mark.

/// The userInfo of the last line that had one, and its members.
struct Asked {
    private var userInfo: [UInt8] = []
    private var members = JSONMembers()

    /// Reads a line, and returns the one to print.
    mutating func answer(_ line: ArraySlice<UInt8>) -> String {
        let text = Array(line.dropFirst())
        if line.first == UInt8(ascii: "c") { return answer(condition: text) }
        userInfo = text
        if text.isEmpty {
            members.read(nil)
            return ""
        }
        guard (try? JSONScanner.validate(text.span, depthLimit: 256)) != nil else {
            return "a userInfo that is no JSON\n"
        }
        members.read(text.span)
        return ""
    }

    private func answer(condition text: [UInt8]) -> String {
        do throws(JSONConditionError) {
            let condition = try JSONCondition(text.span)
            return condition.isTrue(for: members, in: userInfo.span) ? "true\n" : "false\n"
        } catch {
            return "!\(error.pointer)\n"
        }
    }
}

var asked = Asked()
var output: [UInt8] = []
let input = try StandardStream.input.readAll(byteLimit: 1 << 32)
for line in input.split(separator: UInt8(ascii: "\n")) { output += asked.answer(line).utf8 }
try StandardStream.output.write(output.span)
