import BelfryJSON

/// Conditions on userInfo.
enum WhereChecks {
    /// The first line is the condition, the rest the userInfo.
    static func isTrue(_ bytes: [UInt8]) -> String? {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let text = Array(bytes[..<end])
        let condition: JSONCondition
        do throws(JSONConditionError) {
            condition = try JSONCondition(text.span)
        } catch {
            if error.message.isEmpty { return "a fault without a sentence" }
            // A key may begin with a mark that joins the slash before it, so bytes are compared.
            return error.pointer.utf8.first.map { $0 == UInt8(ascii: "/") } ?? true
                ? nil : "no pointer"
        }
        if !isJSON(condition.text) { return "a condition that is no JSON" }
        guard (try? JSONCondition(condition.text.span)) == condition else {
            return "it is another one when it is read back"
        }
        if condition.isTrue(in: nil) != condition.isTrue(in: [0x7B, 0x7D].span) {
            return "an object without members has other ones than nothing"
        }
        let userInfo = Array(bytes[end...].dropFirst())
        return isJSON(userInfo) ? isTheSame(condition, of: userInfo) : nil
    }

    /// Checks that a userInfo fulfils a condition or not, however it is written.
    private static func isTheSame(_ condition: JSONCondition, of userInfo: [UInt8]) -> String? {
        var members = JSONMembers()
        let isTrue = condition.isTrue(in: userInfo.span)
        let others: [(String, [UInt8])] = [
            ("read again", userInfo), ("within blanks", [0x20, 0x0A] + userInfo + [0x09]),
            ("among many members", amongMany(userInfo)), ("escaped", escaped(userInfo)),
            ("escaped, among many members", amongMany(escaped(userInfo))),
        ]
        for (manner, userInfo) in others {
            if !isJSON(userInfo) { return "\(manner), it is no JSON" }
            members.read(userInfo.span)
            if condition.isTrue(for: members, in: userInfo.span) != isTrue {
                return "\(manner), it is not \(isTrue)"
            }
        }
        return nil
    }

    /// An object with many members in front, whose keys no path leads to.
    private static func amongMany(_ userInfo: [UInt8]) -> [UInt8] {
        guard let start = userInfo.firstIndex(where: { $0 > 0x20 }), userInfo[start] == 0x7B,
            let next = userInfo[(start + 1)...].first(where: { $0 > 0x20 })
        else { return userInfo }
        let many = (0..<100).map { #""a.\#($0)":{"a":\#($0)}"# }.joined(separator: ",")
        return Array("{\(many)\(next == 0x7D ? "" : ",")".utf8) + userInfo[(start + 1)...]
    }

    /// The same text with escapes in place of the letters and digits of its strings.
    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        var isInString = false
        var index = 0
        while index < text.count {
            let byte = text[index]
            let isWord = Unicode.Scalar(byte).properties.isAlphabetic || byte &- 0x30 < 10
            if isInString, byte == UInt8(ascii: "\\") {
                let length = text[index + 1] == UInt8(ascii: "u") ? 6 : 2
                escaped += text[index..<index + length]
                index += length
                continue
            }
            if byte == UInt8(ascii: "\"") { isInString.toggle() }
            if isInString, byte < 0x80, isWord {
                escaped += "\\u00\(String(byte, radix: 16))".utf8
            } else {
                escaped.append(byte)
            }
            index += 1
        }
        return escaped
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        do throws(JSONError) {
            _ = try JSONScanner.validate(bytes.span, depthLimit: 64)
            return true
        } catch {
            return false
        }
    }
}
