import COpenSSL

/// A SHA-256 digest (FIPS 180-4), made by libcrypto.
public struct Digest: Sendable, Equatable {
    /// The length of a digest in bytes.
    public static let byteCount = 32

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Hashes some bytes.
    public init(of input: Span<UInt8>) {
        // SAFETY: SHA256 reads `input.count` bytes and writes 32, for which the buffer has room.
        bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.byteCount) { output, count in
            unsafe input.withUnsafeBufferPointer { buffer in
                _ = unsafe SHA256(buffer.baseAddress, buffer.count, output.baseAddress)
            }
            count = Self.byteCount
        }
    }
}
