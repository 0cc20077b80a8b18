import BelfryTLS
import Testing

@testable import BelfryAccess

@Suite("Tokens that other libraries made (RFC 7518 §3, RFC 8037 §3.1)")
struct ForeignTokenTests {
    @Test("there are two for each algorithm, and for each curve of EdDSA")
    func all() {
        let names = SignatureAlgorithm.allCases.map(\.rawValue).filter { $0 != "EdDSA" }
        #expect(Set(Vectors.foreign.map(\.name)) == Set(names + ["Ed25519", "Ed448"]))
        #expect(Vectors.foreign.count == 28)
    }

    @Test("they are taken, whether their key comes as JWK or as PEM", arguments: Vectors.foreign)
    func taken(row: Vectors.ForeignToken) throws {
        var keyrings = [try Keyring(keys: nil, keySet: row.key.asKeySet)]
        if let pem = row.pem {
            let file = #"{"jwt":[\#(Signer.pemRow("k", row.algorithm, pem))]}"#
            keyrings.append(try Keyring(keys: Array(file.utf8), keySet: nil))
        }
        for keyring in keyrings {
            let caller = try keyring.token(Array(row.token.utf8)).verify()
            #expect(caller.principal == Array("till".utf8))
            #expect(caller.grants.allowEverywhere(.post))
        }
    }

    @Test("a change of any byte makes them refused", arguments: Vectors.foreign)
    func changed(row: Vectors.ForeignToken) throws {
        let keyring = try Keyring(keys: nil, keySet: row.key.asKeySet)
        let token = Array(row.token.utf8)
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let dot = UInt8(ascii: ".")
        for place in token.indices {
            // The last digit of a part may have bits that represent nothing: all others are tried
            // there.
            let isLast = place + 1 == token.count || token[place + 1] == dot
            let next = digits.firstIndex(of: token[place]).map { digits[($0 + 1) % 64] }
            let others = isLast ? digits + [dot, 0, 0xFF] : [next ?? digits[0]]
            for other in others where other != token[place] {
                var bad = token
                bad[place] = other
                let error = thrown { () throws(AccessError) in
                    _ = try keyring.token(bad).verify()
                }
                #expect(error != nil, "byte \(place) as \(other)")
            }
        }
    }
}
