import Testing

@testable import BelfryWebSocket

@Suite("SHA1 (RFC 3174) and Base64 (RFC 4648)")
struct DigestTests {
    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(
        "the digests of RFC 3174 §7.3, and those around the end of a block",
        arguments: [
            ("", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
            ("a", 1_000_000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
            (
                "0123456701234567012345670123456701234567012345670123456701234567", 10,
                "dea356a2cddd90c7a7ecedc5ebb563934f460452"
            ),
            ("a", 60, "13d956033d9af449bfe2c4ef78c17c20469c4bf1"),
            ("a", 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
            ("a", 56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
            ("a", 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
        ])
    func digests(text: String, count: Int, digest: String) {
        let message = Array(String(repeating: text, count: count).utf8)
        let result = SHA1.digest(of: message.span)
        #expect(Self.hex(result.indices.map { result[$0] }) == digest)
    }

    @Test(
        "the test vectors of RFC 4648 §10, in both forms",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ])
    func vectors(plain: String, text: String) {
        let bytes = Array(plain.utf8)
        let padded = Array(text.utf8)
        let bare = padded.filter { $0 != UInt8(ascii: "=") }
        #expect(Base64.standard.encode(bytes.span) == padded)
        #expect(Base64.standard.decode(padded.span) == bytes)
        #expect(Base64.url.encode(bytes.span) == bare)
        #expect(Base64.url.decode(bare.span) == bytes)
    }

    @Test("every byte comes back, and the two alphabets differ in two places")
    func roundTrip() {
        for count in 0...256 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167) }
            for form in [Base64.standard, .url] {
                #expect(form.decode(form.encode(bytes.span).span) == bytes)
            }
        }
        let bytes: [UInt8] = [0xFB, 0xFF]
        #expect(Base64.standard.encode(bytes.span) == Array("+/8=".utf8))
        #expect(Base64.url.encode(bytes.span) == Array("-_8".utf8))
    }

    @Test(
        "a text that the form would not write is refused",
        arguments: [
            (.standard, "Zg"), (.standard, "Zg="), (.standard, "Zg==="), (.standard, "Zh=="),
            (.standard, "Zm9="), (.standard, "===="), (.standard, "Z==="), (.standard, "Zm 8"),
            (.standard, "=Zg="), (.standard, "-_8="), (.standard, "Zg==Zg=="), (.url, "Zg=="),
            (.url, "Z"), (.url, "Zh"), (.url, "+/8"), (.url, "Zm9v\n"), (.url, "Zm9vé"),
        ] as [(Base64, String)])
    func refused(form: Base64, text: String) {
        #expect(form.decode(Array(text.utf8).span) == nil)
    }
}
