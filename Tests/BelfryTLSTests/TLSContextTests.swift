import TestCertificates
import Testing

@testable import BelfryTLS

@Suite("TLSContext: certificates and keys")
struct TLSContextTests {
    let authority = TestAuthority()

    @Test("a certificate with its key is taken, and a chain behind it", arguments: [true, false])
    func good(isRSA: Bool) throws {
        let identity = authority.issue(key: isRSA ? .rsa(bitCount: 2048) : .p256)
        let context = try TLSContext(
            certificateChain: identity.certificate + authority.certificate,
            privateKey: identity.key)
        let validity = try #require(context.validity)
        #expect(validity.end - validity.start == 90_000)
        #expect(!validity.hasEnded(atSecond: validity.end))
        #expect(validity.hasEnded(atSecond: validity.end + 1))
        #expect(!validity.isInFuture(atSecond: validity.start))
        #expect(validity.isInFuture(atSecond: validity.start - 1))
        let client = try TLSContext(authorities: .pem(authority.certificate))
        let pair = Pair(context, client)
        try pair.run()
        #expect(pair.client.isOpen)
    }

    @Test("what cannot be used says what it is")
    func bad() throws {
        let (identity, other) = (authority.issue(), authority.issue())
        let text = Array("no PEM at all".utf8)
        let cases: [([UInt8], [UInt8], TLSError)] = [
            (text, identity.key, .noCertificate), ([], identity.key, .noCertificate),
            (identity.key, identity.key, .noCertificate),
            (identity.certificate, text, .noPrivateKey), (identity.certificate, [], .noPrivateKey),
            (identity.certificate, identity.certificate, .noPrivateKey),
            (identity.certificate, other.key, .keyMismatch),
            (identity.certificate, authority.encryptedKey(), .encryptedPrivateKey),
        ]
        for (certificate, key, error) in cases {
            #expect(throws: error) {
                try TLSContext(certificateChain: certificate, privateKey: key)
            }
        }
        #expect(throws: TLSError.noAuthorities) { try TLSContext(authorities: .pem(text)) }
    }

    @Test("keys that are too short and chains that break off are not used")
    func unusable() throws {
        let short = authority.issue(key: .rsa(bitCount: 1024))
        let good = authority.issue()
        var broken = good.certificate + authority.certificate
        broken[good.certificate.count + 40] = UInt8(ascii: "!")
        for (certificate, key) in [(short.certificate, short.key), (broken, good.key)] {
            #expect {
                try TLSContext(certificateChain: certificate, privateKey: key)
            } throws: { error in
                if case .unusable = error as? TLSError { true } else { false }
            }
        }
    }

    @Test("every error has a sentence, and none of them a path")
    func sentences() {
        let errors: [TLSError] = [
            .noCertificate, .noPrivateKey, .encryptedPrivateKey, .keyMismatch, .unusable("x"),
            .noAuthorities, .plainHTTP, .handshakeTooLong(limit: 1), .handshakeFailed("x"),
            .untrustedPeer("x"), .connectionFailed("x"), .notOpen,
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
    }
}
