import BelfrySystem
import Testing

@Suite("Checksum (RFC 3720 §B.4)")
struct ChecksumTests {
    private func checksum(_ bytes: [UInt8]) -> UInt32 {
        var checksum = Checksum()
        // SAFETY: the checksum reads the bytes of the buffer before the closure ends.
        unsafe bytes.withUnsafeBytes { unsafe checksum.add($0) }
        return checksum.value
    }

    @Test(
        "the checksums of the RFC's examples",
        arguments: [
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            (Array(0..<32), 0x46DD_794E), (Array("123456789".utf8), 0xE306_9283), ([], 0),
        ] as [([UInt8], UInt32)])
    func examples(_ bytes: [UInt8], _ expected: UInt32) {
        #expect(checksum(bytes) == expected)
    }

    @Test("a word is its bytes, the least first, and parts are the whole")
    func words() {
        var words = Checksum()
        words.add(0x0706_0504_0302_0100 as UInt64)
        #expect(words.value == checksum(Array(0..<8)))
    }
}
