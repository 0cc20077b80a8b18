import BelfryTLS
import Testing

@Suite("Digest (FIPS 180-4)")
struct DigestTests {
    @Test(
        "the examples of the standard have the digests that it gives",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                """
                abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
                hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu
                """, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func examples(text: String, expected: String) {
        let bytes = Array(text.utf8)
        let digest = Digest(of: bytes.span)
        #expect(hexadecimal(digest) == expected)
    }

    @Test("a million letters a have the digest of the standard")
    func million() {
        let bytes = [UInt8](repeating: 0x61, count: 1_000_000)
        let digest = Digest(of: bytes.span)
        #expect(
            hexadecimal(digest)
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test(
        "lengths around one block and its padding differ from each other",
        arguments: [55, 56, 57, 63, 64, 65, 119, 120, 128])
    func blocks(count: Int) {
        let bytes = [UInt8](repeating: 0, count: count)
        let longer = [UInt8](repeating: 0, count: count + 1)
        let (first, again) = (Digest(of: bytes.span), Digest(of: bytes.span))
        let other = Digest(of: longer.span)
        #expect(first.bytes.count == Digest.byteCount)
        #expect(first == again)
        #expect(first != other)
    }

    private func hexadecimal(_ digest: Digest) -> String {
        let digits = Array("0123456789abcdef")
        return String(digest.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
