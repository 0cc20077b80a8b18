internal import CBelfrySystem
internal import Glibc

/// The three streams that every process starts with; calls on them block.
public enum StandardStream: Int32, Sendable {
    /// The input of the process.
    case input = 0
    /// The results of the process.
    case output = 1
    /// The messages of the process.
    case error = 2

    /// Whether a person is at the other end.
    public var isTerminal: Bool {
        belfry_is_terminal(rawValue)
    }

    /// Writes all of the bytes.
    public func write(_ bytes: Span<UInt8>) throws(SystemCallError) {
        try writeAll(bytes, to: rawValue)
    }

    /// Writes all of the text.
    public func write(_ text: String) throws(SystemCallError) {
        try write(Array(text.utf8).span)
    }

    /// Reads up to the end of the input, or throws `EFBIG` past the limit.
    public func readAll(byteLimit: Int) throws(SystemCallError) -> [UInt8] {
        try readToEnd(rawValue, byteLimit: byteLimit)
    }

    /// Reads the available input, or waits for more; an empty array is its end.
    public func readSome() throws(SystemCallError) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        chunk.removeLast(chunk.count - (try readOnce(rawValue, into: &chunk)))
        return chunk
    }
}

/// Files as a whole, for programs that may wait for a disk.
public enum WholeFile {
    /// Reads a whole file, or throws `EFBIG` past the limit.
    public static func read(path: String, byteLimit: Int) throws(SystemCallError) -> [UInt8] {
        // SAFETY: the path is passed as a string that ends in a zero byte.
        let number = unsafe belfry_open_for_reading(path)
        let descriptor = Descriptor(owning: try checked(number, "open"))
        return try readToEnd(descriptor.rawValue, byteLimit: byteLimit)
    }

    /// Reads the beginning of a file, at most so many bytes of it.
    public static func readBeginning(
        path: String, byteLimit: Int
    ) throws(SystemCallError) -> [UInt8] {
        // SAFETY: the path is passed as a string that ends in a zero byte.
        let number = unsafe belfry_open_for_reading(path)
        let descriptor = Descriptor(owning: try checked(number, "open"))
        var bytes: [UInt8] = []
        while bytes.count < byteLimit {
            var chunk = [UInt8](repeating: 0, count: min(65_536, byteLimit - bytes.count))
            let count = try readOnce(descriptor.rawValue, into: &chunk)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// Whether others than the owner and the group of a file may read it.
    public static func isReadableByAll(path: String) throws(SystemCallError) -> Bool {
        // SAFETY: the path is passed as a string that ends in a zero byte.
        try checked(unsafe belfry_file_mode(path), "stat") & 0o004 != 0
    }
}

func readToEnd(_ number: Int32, byteLimit: Int) throws(SystemCallError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = try readOnce(number, into: &chunk)
        if count == 0 { return bytes }
        if bytes.count + count > byteLimit { throw SystemCallError(call: "read", errno: EFBIG) }
        bytes += chunk[..<count]
    }
}

/// Reads as many bytes as are there, and as the chunk has room for; none at the end.
func readOnce(_ number: Int32, into chunk: inout [UInt8]) throws(SystemCallError) -> Int {
    // SAFETY: read(2) writes at most as many bytes as the chunk has.
    let outcome = unsafe chunk.withUnsafeMutableBytes { room in
        guard let base = room.baseAddress else { return 0 }
        return unsafe belfry_read(number, base, room.count)
    }
    if outcome < 0 { throw SystemCallError(call: "read", errno: Int32(-outcome)) }
    return outcome
}

/// Writes all of the bytes to a descriptor.
func writeAll(_ bytes: Span<UInt8>, to number: Int32) throws(SystemCallError) {
    var start = 0
    while start < bytes.count {
        // SAFETY: write(2) reads at most as many bytes as are left of the span.
        let outcome = unsafe bytes.extracting(start...).withUnsafeBytes { rest in
            guard let base = rest.baseAddress else { return 0 }
            return unsafe belfry_write(number, base, rest.count)
        }
        if let count = try countOrBlocked(outcome, "write") {
            start += count
        } else {
            // Another program that has the stream made it non-blocking, and it is full.
            _ = try checked(belfry_await_room(number), "poll")
        }
    }
}
