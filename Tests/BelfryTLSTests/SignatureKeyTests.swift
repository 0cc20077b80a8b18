import Foundation
import TestCertificates
import Testing

@testable import BelfryTLS

@Suite("SignatureKey (RFC 7518 §3)")
struct SignatureKeyTests {
    private static let signed = Array("header.payload".utf8)
    private static let secret = [UInt8](repeating: 7, count: 32)

    private func pem(_ signer: TestSigner) -> String {
        String(decoding: signer.publicPEM, as: UTF8.self)
    }

    private func readKey(_ pem: String, _ algorithm: SignatureAlgorithm = .es256) -> SignatureKey? {
        SignatureKey(.pem(Array(pem.utf8)), for: algorithm)
    }

    @Test("a PEM text is one public key and white space behind it")
    func pems() throws {
        let signer = TestSigner(.p256)
        let good = pem(signer)
        #expect(
            readKey(good)?.isValid(signature: signer.sign(Self.signed), of: Self.signed) == true)
        let dropped = String(good.dropLast())
        for text in [dropped, good + "\n\r\n \t"] { #expect(readKey(text) != nil) }
        let certificate = String(decoding: TestAuthority().certificate, as: UTF8.self)
        let lines = good.split(separator: "\n").map(String.init)
        let bytes = try #require(Data(base64Encoded: lines[1..<lines.count - 1].joined()))
        let longer = good.replacing(
            lines[1..<lines.count - 1].joined(separator: "\n"),
            with: (bytes + Data(count: 3)).base64EncodedString(options: .lineLength64Characters))
        let relabelled = good.replacing("PUBLIC KEY", with: "RSA PUBLIC KEY")
        for text in [
            "", "-----BEGIN ", good + good, "x" + good, " " + good, good + "x", certificate,
            relabelled,
            good.replacing("PUBLIC KEY", with: "PRIVATE KEY"),
            longer,
            lines.dropLast().joined(separator: "\n"),
        ] {
            #expect(readKey(text) == nil, "\(text)")
        }
    }

    @Test("a key is for no algorithm but those of its kind")
    func kinds() {
        let elliptic = pem(TestSigner(.p256))
        let edwards = pem(TestSigner(.ed25519))
        for algorithm in SignatureAlgorithm.allCases {
            #expect((readKey(elliptic, algorithm) != nil) == (algorithm == .es256))
            #expect((readKey(edwards, algorithm) != nil) == (algorithm == .eddsa))
            let secret = SignatureKey(.secret(Self.secret), for: algorithm)
            #expect((secret != nil) == (algorithm == .hs256))
        }
    }

    @Test("whatever fails leaves no error behind for the next call on this thread")
    func errors() throws {
        let signer = TestSigner(.p256)
        let key = try #require(readKey(pem(signer)))
        var signature = signer.sign(Self.signed)
        signature[5] ^= 1
        ErrorQueue.clear()
        #expect(!key.isValid(signature: signature, of: Self.signed))
        #expect(!key.isValid(signature: [UInt8](repeating: 0, count: 64), of: Self.signed))
        #expect(!key.isValid(signature: [], of: Self.signed))
        #expect(readKey("nonsense") == nil)
        #expect(readKey("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n") == nil)
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(SignatureKey(.point(x: zeros, y: zeros), for: .es256) == nil)
        #expect(SignatureKey(.modulus(zeros, exponent: [3]), for: .rs256) == nil)
        #expect(ErrorQueue.firstReason == 0)
    }

    @Test("a key is used by many threads at once")
    func threads() async throws {
        let signer = TestSigner(.ed25519)
        let key = try #require(readKey(pem(signer), .eddsa))
        let signature = signer.sign(Self.signed)
        let count = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<50).count { _ in key.isValid(signature: signature, of: Self.signed) }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(count == 400)
    }
}
