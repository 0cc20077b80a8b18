internal import COpenSSL

/// The bytes between libssl and the caller: those that came, and those that are to leave.
///
/// It keeps nothing between two calls. The BIO of libssl, `BIO_s_mem`, would copy everything twice
/// and keep the largest size it ever had, for each direction of each connection.
@unsafe struct BytePipe {
    /// The bytes that came and have not been read.
    // SAFETY: it points into bytes of a caller, and is set back before the call ends.
    var input = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    /// The bytes that libssl has written during the call.
    var output: [UInt8] = []
}

extension BytePipe {
    /// Makes the method table of BIOs whose data is an `UnsafeMutablePointer<BytePipe>`.
    ///
    /// The caller owns it, and it must outlive its BIOs.
    static func makeMethod() -> OpaquePointer {
        // The type is for lookups in chains, and there are none: a number from
        // `BIO_get_new_index` would be spent with each certificate that is loaded.
        let type = BIO_TYPE_SOURCE_SINK
        // SAFETY: the callbacks keep to the counts that they are given, and the data of a BIO is
        // set to its pipe before libssl sees it.
        guard let method = unsafe BIO_meth_new(type, "belfry pipe") else {
            preconditionFailure("libcrypto has no memory")
        }
        unsafe BIO_meth_set_create(method) { bio in
            unsafe BIO_set_init(bio, 1)
            return 1
        }
        unsafe BIO_meth_set_read(method) { bio, bytes, count in
            unsafe BytePipe.read(bio, bytes, count)
        }
        unsafe BIO_meth_set_write(method) { bio, bytes, count in
            unsafe BytePipe.write(bio, bytes, count)
        }
        unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in
            // Writes are not buffered, so a flush is done at once.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        return unsafe method
    }

    private static let retryFlags =
        BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY

    private static func pipe(of bio: OpaquePointer?) -> UnsafeMutablePointer<BytePipe> {
        // SAFETY: `TLSSession` sets it right after it made the BIO.
        guard let data = unsafe BIO_get_data(bio) else { preconditionFailure("a BIO has a pipe") }
        return unsafe data.assumingMemoryBound(to: BytePipe.self)
    }

    private static func read(
        _ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int32
    ) -> Int32 {
        // SAFETY: at most `count` bytes are copied, for which libssl has room, and no more than
        // the pipe has.
        let pipe = unsafe pipe(of: bio)
        unsafe BIO_clear_flags(bio, retryFlags)
        let taken = unsafe min(Int(count), pipe.pointee.input.count)
        guard taken > 0, let bytes = unsafe bytes, let start = unsafe pipe.pointee.input.baseAddress
        else {
            unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        unsafe UnsafeMutableRawPointer(bytes).copyMemory(from: start, byteCount: taken)
        unsafe pipe.pointee.input = UnsafeRawBufferPointer(
            rebasing: pipe.pointee.input.dropFirst(taken))
        return Int32(taken)
    }

    private static func write(
        _ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32
    ) -> Int32 {
        // SAFETY: libssl gives `count` bytes.
        let pipe = unsafe pipe(of: bio)
        unsafe BIO_clear_flags(bio, retryFlags)
        guard count > 0, let bytes = unsafe bytes else { return 0 }
        unsafe pipe.pointee.output.append(
            contentsOf: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        return count
    }
}
