import Testing

@testable import BelfryCenter

@Suite("FixedDigest")
struct FixedDigestTests {
    @Test("the digest of the same words is the same in every version and process")
    func fixedValue() {
        var digest = FixedDigest()
        digest.add(bytes("a text of 17 byte"))
        digest.add(7 as UInt64)
        digest.add(-1 as Int64)
        digest.add(3)
        digest.add(true)
        #expect(digest.finish() == 14_368_992_830_387_833_204)
    }

    @Test("bytes that are divided elsewhere give another digest")
    func lengths() {
        var (first, second) = (FixedDigest(), FixedDigest())
        for text in ["ab", "c"] { first.add(bytes(text)) }
        for text in ["a", "bc"] { second.add(bytes(text)) }
        #expect(first.finish() != second.finish())
    }
}
