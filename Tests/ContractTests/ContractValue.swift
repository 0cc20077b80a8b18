import Foundation

/// The content of a contract file, written as YAML or as JSON.
enum ContractValue: Equatable, Decodable {
    case object([String: ContractValue])
    case array([ContractValue])
    case text(String)
    case number(Double)
    case boolean(Bool)
    case null

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([ContractValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: ContractValue].self))
        }
    }

    /// The member of this name; `.null` when there is none.
    subscript(key: String) -> ContractValue {
        get { members[key] ?? .null }
        set {
            var members = members
            members[key] = newValue
            self = .object(members)
        }
    }

    /// The members of an object; none of anything else.
    var members: [String: ContractValue] {
        if case .object(let members) = self { members } else { [:] }
    }

    /// The elements of an array; none of anything else.
    var elements: [ContractValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The text, if it is one.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// This value and all within it.
    func forEachValue(_ body: (ContractValue) -> Void) {
        body(self)
        for value in members.values { value.forEachValue(body) }
        for value in elements { value.forEachValue(body) }
    }

    /// The target of a reference in this file, or the value itself.
    func resolving(_ value: ContractValue) -> ContractValue {
        guard let reference = value["$ref"].text else { return value }
        return reference.split(separator: "/").dropFirst().reduce(self) { $0[String($1)] }
    }
}
