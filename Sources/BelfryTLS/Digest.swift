import COpenSSL

/// A SHA-256 digest (FIPS 180-4), made by libcrypto.
public struct Digest: Sendable, Equatable {
    /// The length of a digest in bytes.
    public static let byteCount = 32

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Hashes some bytes.
    public init(of input: Span<UInt8>) {
        let words = Self.words(of: input)
        bytes = (0..<Self.byteCount).map {
            UInt8(truncatingIfNeeded: words[$0 >> 3] >> UInt64(56 - 8 * ($0 & 7)))
        }
    }

    /// The first 128 bits of a digest.
    public static func start(of input: Span<UInt8>) -> (high: UInt64, low: UInt64) {
        let words = words(of: input)
        return (words[0], words[1])
    }

    /// The four words of a digest, the first byte highest.
    private static func words(of input: Span<UInt8>) -> [4 of UInt64] {
        var digest = belfry_digest()
        // SAFETY: `input.count` bytes are read; the digest lies in a value of its own size.
        unsafe input.withUnsafeBufferPointer { buffer in
            unsafe belfry_sha256(buffer.baseAddress, buffer.count, &digest)
        }
        return [digest.first, digest.second, digest.third, digest.fourth]
    }
}
