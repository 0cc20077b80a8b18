import Foundation
import Testing

/// Tokens and keys of `Fixtures/vectors.json`, most of them wrong.
struct Vectors: Decodable {
    let groups: [Group]
    let keys: [KeyRow]

    static let all: Vectors = fixture("vectors.json")
    static let examples: [Example] = fixture("rfc-examples.json")
    static let foreign: [ForeignToken] = fixture("tokens.json")

    struct Group: Decodable, CustomTestStringConvertible {
        let comment: String
        let key: KeyMap
        let tests: [TokenRow]

        var testDescription: String { comment }
    }

    struct TokenRow: Decodable {
        let comment: String
        let token: String
        let fault: String?
    }

    struct KeyRow: Decodable, CustomTestStringConvertible {
        let comment: String
        let text: String
        let result: String

        var testDescription: String { comment }
    }

    struct Example: Decodable, CustomTestStringConvertible {
        let source: String
        let key: KeyMap
        let token: String
        let fault: String?

        var testDescription: String { source }
    }

    /// A token of `Fixtures/tokens.json`.
    struct ForeignToken: Decodable, CustomTestStringConvertible {
        let library: String
        let name: String
        let algorithm: String
        let key: KeyMap
        let pem: String?
        let token: String

        var testDescription: String { "\(name) by \(library)" }
    }
}

/// A JSON Web Key whose members are all text.
struct KeyMap: Decodable {
    private let members: [String: String]

    init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: String].self)
    }

    /// A key set with this key alone.
    var asKeySet: [UInt8] {
        let row = members.map { #""\#($0.key)":"\#($0.value)""# }.joined(separator: ",")
        return Array(#"{"keys":[{\#(row)}]}"#.utf8)
    }
}

/// Reads a file of the fixtures.
func fixture<Value: Decodable>(_ name: String) -> Value {
    do {
        return try JSONDecoder().decode(Value.self, from: Data(Signer.fixture(name).utf8))
    } catch {
        preconditionFailure("\(name): \(error)")
    }
}
