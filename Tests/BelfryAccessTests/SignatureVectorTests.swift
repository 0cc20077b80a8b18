import Foundation
import Testing

@testable import BelfryAccess

@Suite("Vectors of signatures and keys (RFC 7515, RFC 7517, RFC 7518, RFC 8037)")
struct SignatureVectorTests {
    private func fault(_ token: String, _ keyring: Keyring) -> String? {
        let error = thrown { () throws(AccessError) in
            _ = try keyring.token(Array(token.utf8)).verify()
        }
        if case .refusedToken(let fault) = error { return fault.rawValue }
        return nil
    }

    @Test(
        "each token is taken, or refused for the fault that it has", arguments: Vectors.all.groups)
    func tokens(group: Vectors.Group) throws {
        let keyring = try Keyring(keys: nil, keySet: group.key.asKeySet)
        #expect(group.tests.count > 50)
        for row in group.tests {
            #expect(fault(row.token, keyring) == row.fault, "\(row.comment)")
        }
    }

    @Test("each key is taken, passed by, or a fault of its file", arguments: Vectors.all.keys)
    func keys(row: Vectors.KeyRow) throws {
        let set = Array(#"{"keys":[\#(row.text)]}"#.utf8)
        do throws(AccessError) {
            let count = try Keyring(keys: nil, keySet: set).tokenKeyCount
            #expect(row.result == (count == 1 ? "taken" : "passed by"))
        } catch {
            #expect(row.result == "fault", "\(error.sentence)")
            #expect(error.sentence.hasPrefix("#/keys/0"))
        }
    }

    @Test(
        "the signatures of the examples are good, and not those of each other's",
        arguments: Vectors.examples)
    func examples(example: Vectors.Example) throws {
        let keyring = try Keyring(keys: nil, keySet: example.key.asKeySet)
        #expect(fault(example.token, keyring) == example.fault)
        for other in Vectors.examples where other.source != example.source {
            let found = fault(other.token, keyring)
            #expect(["signature", "algorithm", "unknown key"].contains(found), "\(other.source)")
        }
    }
}
