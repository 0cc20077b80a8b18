import Foundation
import TestCertificates

/// Signs tokens, also bad ones.
struct Signer: Sendable {
    let signer: TestSigner
    /// The member of a key file that verifies what it signs.
    let row: String

    static let hmacSecret = Data("0123456789abcdef0123456789abcdef".utf8)

    static func hmac(kid: String = "h", secret: Data = hmacSecret) -> Signer {
        Signer(
            signer: TestSigner(.secret(Array(secret))),
            row: #"{"kid":"\#(kid)","alg":"HS256","secret":"\#(base64URL(secret))"}"#)
    }

    static func rsa(kid: String = "r") throws -> Signer {
        let pem = try fixture("rsa-private.pem")
        return Signer(
            signer: TestSigner(.rsa(pem: Array(pem.utf8))),
            row: pemRow(kid, "RS256", try fixture("rsa-public.pem")))
    }

    static func ecdsa(kid: String = "e") -> Signer {
        let signer = TestSigner(.p256)
        let pem = String(decoding: signer.publicPEM, as: UTF8.self)
        return Signer(signer: signer, row: pemRow(kid, "ES256", pem))
    }

    static func eddsa(kid: String = "d") -> Signer {
        let signer = TestSigner(.ed25519)
        let pem = String(decoding: signer.publicPEM, as: UTF8.self)
        return Signer(signer: signer, row: pemRow(kid, "EdDSA", pem))
    }

    /// A token in compact form with this header and these claims.
    func token(header: String, claims: String) -> String {
        let signed = base64URL(Data(header.utf8)) + "." + base64URL(Data(claims.utf8))
        return signed + "." + base64URL(Data(signer.sign(Array(signed.utf8))))
    }

    static func fixture(_ name: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: folder.appending(path: "Fixtures/\(name)"), encoding: .utf8)
    }

    static func pemRow(_ kid: String, _ algorithm: String, _ pem: String) -> String {
        let text = pem.replacingOccurrences(of: "\n", with: "\\n")
        return #"{"kid":"\#(kid)","alg":"\#(algorithm)","pem":"\#(text)"}"#
    }
}

/// Base 64 for URLs, without padding.
func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
}

/// Returns the error of a body, as a value to compare.
func thrown<Failure: Error>(_ body: () throws(Failure) -> Void) -> Failure? {
    do throws(Failure) {
        try body()
        return nil
    } catch {
        return error
    }
}
