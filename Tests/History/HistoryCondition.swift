/// A condition on the userInfo in a few simple forms, with an evaluator of its own (rule W1).
///
/// It knows the userInfo of simulations alone: strings without escapes, and small numbers.
package struct HistoryCondition: Equatable, Sendable {
    /// The operators for the value at a key path.
    package indirect enum Test: Equatable, Sendable {
        case isOne(of: [HistoryValues.Scalar])
        case above(Double), atLeast(Double), below(Double), atMost(Double)
        case exists(Bool)
        case begins(String), ends(String)
        case not(Test)
    }

    /// One value at a key path, with the operators that must all hold.
    package struct Part: Equatable, Sendable {
        let path: String
        let tests: [Test]

        package init(_ path: String, _ tests: Test...) {
            self.path = path
            self.tests = tests
        }
    }

    /// The alternatives, of which one must hold with all its parts.
    private let alternatives: [[Part]]

    package init(anyOf alternatives: [Part]...) { self.alternatives = alternatives }

    /// Whether a userInfo fulfils it; without one there are no values (rule W6).
    func isTrue(of values: HistoryValues) -> Bool {
        alternatives.contains { parts in
            parts.allSatisfy { part in
                part.tests.allSatisfy { $0.isTrue(of: values[part.path]) }
            }
        }
    }

    /// Its text on the wire.
    package var text: String {
        let texts = alternatives.map { parts in
            let members = parts.map { "\"\($0.path)\":\(Test.text(of: $0.tests))" }
            return "{\(members.joined(separator: ","))}"
        }
        return texts.count == 1 ? texts[0] : "[\(texts.joined(separator: ","))]"
    }
}

extension HistoryCondition.Test {
    /// Whether it holds for a value; another type or no value makes it false (rule W5).
    fileprivate func isTrue(of value: HistoryValues.Scalar?) -> Bool {
        switch self {
        case .isOne(let wanted): return wanted.contains(value ?? .null)
        case .above(let bound): return value?.number.map { $0 > bound } ?? false
        case .atLeast(let bound): return value?.number.map { $0 >= bound } ?? false
        case .below(let bound): return value?.number.map { $0 < bound } ?? false
        case .atMost(let bound): return value?.number.map { $0 <= bound } ?? false
        case .exists(let isThere): return ((value ?? .null) != .null) == isThere
        case .begins(let text): return value?.text?.utf8.starts(with: text.utf8) ?? false
        case .ends(let text):
            return value?.text?.utf8.reversed().starts(with: text.utf8.reversed()) ?? false
        case .not(let test): return !test.isTrue(of: value)
        }
    }

    fileprivate static func text(of tests: [Self]) -> String {
        // A value alone stands for being equal to it.
        if tests.count == 1, let text = tests[0].bareText { return text }
        return "{\(tests.map(\.member).joined(separator: ","))}"
    }

    private var bareText: String? {
        guard case .isOne(let wanted) = self else { return nil }
        let texts = wanted.map(\.json)
        return texts.count == 1 ? texts[0] : "[\(texts.joined(separator: ","))]"
    }

    private var member: String {
        switch self {
        case .isOne: preconditionFailure("a value has no operators beside it")
        case .above(let bound): "\"above\":\(HistoryValues.Scalar.number(bound).json)"
        case .atLeast(let bound): "\"atLeast\":\(HistoryValues.Scalar.number(bound).json)"
        case .below(let bound): "\"below\":\(HistoryValues.Scalar.number(bound).json)"
        case .atMost(let bound): "\"atMost\":\(HistoryValues.Scalar.number(bound).json)"
        case .exists(let isThere): "\"exists\":\(isThere)"
        case .begins(let text): "\"prefix\":\"\(text)\""
        case .ends(let text): "\"suffix\":\"\(text)\""
        case .not(let test): "\"not\":\(Self.text(of: [test]))"
        }
    }
}

/// The values of a userInfo by their key paths; of two for one key the last counts (rule W3).
package struct HistoryValues {
    package enum Scalar: Equatable, Sendable {
        case number(Double), text(String), flag(Bool), null

        var number: Double? { if case .number(let number) = self { number } else { nil } }
        var text: String? { if case .text(let text) = self { text } else { nil } }

        var json: String {
            switch self {
            case .number(let number):
                number == number.rounded() ? "\(Int(number))" : "\(number)"
            case .text(let text): "\"\(text)\""
            case .flag(let flag): "\(flag)"
            case .null: "null"
            }
        }
    }

    private var values: [String: Scalar] = [:]

    subscript(path: String) -> Scalar? { values[path] }

    init(_ userInfo: [UInt8]?) {
        guard let userInfo else { return }
        var rest = Substring(decoding: userInfo, as: UTF8.self)
        readObject(&rest, below: "")
    }

    private mutating func readObject(_ rest: inout Substring, below path: String) {
        rest.removeFirst()
        while let first = rest.first, first != "}" {
            if first == "," { rest.removeFirst() }
            let key = path + Self.takeString(&rest)
            rest.removeFirst()
            // A later object hides all of an earlier one.
            values = values.filter { !$0.key.hasPrefix(key + ".") }
            values[key] = nil
            if rest.first == "{" {
                readObject(&rest, below: key + ".")
            } else if rest.first == "\"" {
                values[key] = .text(Self.takeString(&rest))
            } else {
                let text = rest.prefix { $0 != "," && $0 != "}" }
                rest.removeFirst(text.count)
                values[key] = Self.scalar(text)
            }
        }
        rest.removeFirst()
    }

    /// Takes a string with its quotation marks off the text.
    private static func takeString(_ rest: inout Substring) -> String {
        rest.removeFirst()
        let text = rest.prefix { $0 != "\"" }
        rest.removeFirst(text.count + 1)
        return String(text)
    }

    private static func scalar(_ text: Substring) -> Scalar {
        switch text {
        case "true": .flag(true)
        case "false": .flag(false)
        case "null": .null
        default: Double(text).map { .number($0) } ?? .null
        }
    }
}
