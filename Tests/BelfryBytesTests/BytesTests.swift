import BelfryBytes
import Testing

@Suite("Bytes and spans of bytes")
struct BytesTests {
    /// Bytes that differ from their neighbours.
    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
    }

    private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        bytesAreEqual(left.span, right.span)
    }

    @Test("appending gives all bytes behind those that were there", arguments: 0...70)
    func append(count: Int) {
        let bytes = Self.bytes(count)
        var whole: [UInt8] = [9]
        whole.append(bytes.span)
        #expect(whole == [9] + bytes)
        let copy = [UInt8](copying: bytes.span)
        #expect(copy == bytes)
    }

    @Test("spans are equal when all bytes are, wherever one differs", arguments: 0...40)
    func equality(count: Int) {
        let bytes = Self.bytes(count)
        #expect(Self.areEqual(bytes, Self.bytes(count)))
        #expect(!Self.areEqual(bytes, Self.bytes(count + 1)))
        for place in bytes.indices {
            var other = bytes
            other[place] ^= 0x80
            #expect(!Self.areEqual(bytes, other))
        }
    }

    @Test("a word has eight bytes, the first one lowest, and is 0 where fewer are left")
    func word() {
        let bytes: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 8]
        let words = (0...3).map { bytes.span.word(at: $0) }
        #expect(words == [0x0706_0504_0302_0100, 0x0807_0605_0403_0201, 0, 0])
    }

    @Test("a byte is 0 where there is none, and so is a word")
    func outside() {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        let places = [Int.min, -1, 0, 7, 8, Int.max]
        #expect(places.map { bytes.span.byte(at: $0) } == [0, 0, 1, 8, 0, 0])
        #expect(
            places.map { bytes.span.word(at: $0) != 0 } == [
                false, false, true, false, false, false,
            ])
    }

    @Test("a word is written as it is read")
    func writtenWord() {
        var bytes = [UInt8](repeating: 9, count: 10)
        var span = bytes.mutableSpan
        span.write(0x0706_0504_0302_0100, at: 1)
        #expect(bytes == [9, 0, 1, 2, 3, 4, 5, 6, 7, 9])
    }

    @Test("three spans are copied one behind the other", arguments: [0, 1, 5, 40], [0, 3, 70])
    func joining(first: Int, second: Int) {
        let (left, right) = (Self.bytes(first), Self.bytes(second))
        let joined = [UInt8](joining: left.span, right.span, left.span)
        #expect(joined == left + right + left)
    }
}
