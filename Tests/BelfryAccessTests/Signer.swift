import Foundation
import JWTKit

/// Signs tokens, also such as nobody should.
struct Signer: Sendable {
    let algorithm: any JWTAlgorithm
    /// The member of a key file, or of a key set, that verifies what it signs.
    let row: String

    static let hmacSecret = Data("0123456789abcdef0123456789abcdef".utf8)

    static func hmac(
        kid: String = "h", secret: Data = hmacSecret
    ) async throws -> Signer {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        return Signer(
            algorithm: try await keys.getKey(),
            row: #"{"kid":"\#(kid)","alg":"HS256","secret":"\#(base64URL(secret))"}"#)
    }

    static func rsa(kid: String = "r") async throws -> Signer {
        let keys = JWTKeyCollection()
        let key = try Insecure.RSA.PrivateKey(pem: try fixture("rsa-private.pem"))
        await keys.add(rsa: key, digestAlgorithm: .sha256)
        return Signer(
            algorithm: try await keys.getKey(),
            row: Self.pemRow(kid, "RS256", try fixture("rsa-public.pem")))
    }

    static func ecdsa(kid: String = "e") async throws -> Signer {
        let keys = JWTKeyCollection()
        let key = ES256PrivateKey()
        await keys.add(ecdsa: key)
        return Signer(
            algorithm: try await keys.getKey(),
            row: Self.pemRow(kid, "ES256", key.publicKey.pemRepresentation))
    }

    static func eddsa(kid: String = "d") async throws -> Signer {
        let keys = JWTKeyCollection()
        let key = try EdDSA.PrivateKey()
        await keys.add(eddsa: key)
        return Signer(
            algorithm: try await keys.getKey(),
            row: Self.pemRow(kid, "EdDSA", key.publicKey.pemRepresentation))
    }

    /// A token in compact form with this header and these claims.
    func token(header: String, claims: String) throws -> String {
        let signed = base64URL(Data(header.utf8)) + "." + base64URL(Data(claims.utf8))
        return signed + "." + base64URL(Data(try algorithm.sign(Array(signed.utf8))))
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

/// What is thrown, as a value to compare.
func thrown<Failure: Error>(_ body: () async throws(Failure) -> Void) async -> Failure? {
    do throws(Failure) {
        try await body()
        return nil
    } catch {
        return error
    }
}
