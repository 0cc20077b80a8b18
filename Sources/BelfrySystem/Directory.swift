internal import CBelfrySystem
internal import Glibc

/// A directory whose files are named without a path, so that no error can tell one.
public struct Directory: ~Copyable, Sendable {
    private let path: String
    private let descriptor: Descriptor

    /// Opens a directory; one that is not there is made, for its owner alone.
    public init(path: String) throws(SystemCallError) {
        // SAFETY: the text lives until the call returns.
        _ = try checked(unsafe belfry_directory_create(path), "mkdir")
        // SAFETY: as above.
        descriptor = Descriptor(owning: try checked(unsafe belfry_directory_open(path), "open"))
        self.path = path
    }

    private init(path: String, descriptor: consuming Descriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// The same directory once more, for another thread.
    public func duplicate() throws(SystemCallError) -> Directory {
        let number = try checked(belfry_duplicate(descriptor.rawValue), "fcntl")
        return Directory(path: path, descriptor: Descriptor(owning: number))
    }

    /// Locks a file for this process, and makes it if it is not there; nil when another has it.
    ///
    /// The lock ends with the value that is returned, and with the process.
    public func lock(_ name: String) throws(SystemCallError) -> LockedFile? {
        // SAFETY: the text lives until the call returns.
        let outcome = unsafe belfry_file_open(descriptor.rawValue, name, true)
        let file = Descriptor(owning: try checked(outcome, "openat"))
        let status = belfry_file_lock(file.rawValue)
        if status == -EWOULDBLOCK { return nil }
        _ = try checked(status, "flock")
        return LockedFile(descriptor: file)
    }

    /// The status of a file; nil when it is not there.
    public func status(of name: String) throws(SystemCallError) -> FileStatus? {
        // SAFETY: the text lives until the call returns.
        try FileStatus(of: unsafe belfry_file_status(descriptor.rawValue, name))
    }

    /// Whether the path that it was opened by still leads to it.
    ///
    /// It does not once the directory was removed or moved, or its file system unmounted.
    public func isInPlace() throws(SystemCallError) -> Bool {
        // SAFETY: the text lives until the call returns.
        let found = try FileStatus(of: unsafe belfry_path_status(path))
        return found?.identity == (try status(of: "."))?.identity
    }

    /// The first bytes of a file, at most so many.
    public func start(of name: String, byteCount: Int) throws(SystemCallError) -> [UInt8] {
        try open(name).bytes(byteCount)
    }

    /// Opens a file for reading.
    public func open(_ name: String) throws(SystemCallError) -> OpenFile {
        // SAFETY: the text lives until the call returns.
        let outcome = unsafe belfry_file_open(descriptor.rawValue, name, false)
        return OpenFile(descriptor: Descriptor(owning: try checked(outcome, "openat")))
    }

    /// Makes a file that is not there yet, for its owner alone, and takes room for so many bytes.
    ///
    /// - Throws: `SystemCallError` when there is no room; the file then is there, and empty.
    public func create(_ name: String, reserving byteCount: Int) throws(SystemCallError) -> OpenFile
    {
        // SAFETY: the text lives until the call returns.
        let outcome = unsafe belfry_file_create(descriptor.rawValue, name)
        let file = Descriptor(owning: try checked(outcome, "openat"))
        _ = try checked(belfry_file_reserve(file.rawValue, Int64(byteCount)), "fallocate")
        return OpenFile(descriptor: file)
    }

    /// Makes an empty file for its owner alone; one that is there stays as it is.
    public func make(_ name: String) throws(SystemCallError) {
        // SAFETY: the text lives until the call returns.
        let outcome = unsafe belfry_file_open(descriptor.rawValue, name, true)
        _ = Descriptor(owning: try checked(outcome, "openat"))
    }

    /// Makes a file of a size, or an existing one larger, for which the disk really has the room.
    ///
    /// - Throws: `SystemCallError` when there is no room; the file then is as it was, or empty.
    public func allocate(_ name: String, byteCount: Int) throws(SystemCallError) {
        // SAFETY: the text lives until the call returns.
        let outcome = unsafe belfry_file_open(descriptor.rawValue, name, true)
        let file = Descriptor(owning: try checked(outcome, "openat"))
        _ = try checked(
            belfry_file_allocate(file.rawValue, Int64(byteCount)), "posix_fallocate")
    }

    /// Removes a file; one that is not there is no error.
    public func remove(_ name: String) throws(SystemCallError) {
        // SAFETY: the text lives until the call returns.
        _ = try checked(unsafe belfry_file_remove(descriptor.rawValue, name), "unlinkat")
    }

    /// Gives a file a second name.
    public func link(_ name: String, as newName: String) throws(SystemCallError) {
        // SAFETY: both texts live until the call returns.
        let outcome = unsafe belfry_file_link(descriptor.rawValue, name, newName)
        _ = try checked(outcome, "linkat")
    }

    /// Gives a file another name, for good: it survives a loss of power.
    public func rename(_ name: String, to newName: String) throws(SystemCallError) {
        // SAFETY: both texts live until the call returns.
        let outcome = unsafe belfry_file_rename(descriptor.rawValue, name, newName)
        _ = try checked(outcome, "renameat")
        _ = try checked(belfry_file_synchronize(descriptor.rawValue), "fsync")
    }
}

/// The status of a file.
public struct FileStatus: Sendable, Equatable {
    /// Which file it is.
    public let identity: FileIdentity
    /// Its size.
    public let byteCount: Int

    /// Its number in the file system, which a copy does not share.
    public var inode: UInt64 { identity.inode }

    fileprivate init?(of file: belfry_file) throws(SystemCallError) {
        if file.status == -ENOENT { return nil }
        _ = try checked(file.status, "fstatat")
        identity = FileIdentity(device: file.device, inode: file.inode)
        byteCount = Int(file.size)
    }
}

/// The identity of a file, unique as long as the file is open.
public struct FileIdentity: Sendable, Equatable {
    /// The number of its file system.
    public let device: UInt64
    /// Its number in the file system.
    public let inode: UInt64
}

/// A file that no other process can lock as long as this value lives.
public struct LockedFile: ~Copyable, Sendable {
    private let descriptor: Descriptor

    fileprivate init(descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// The first bytes of the file, at most so many.
    public func start(byteCount: Int) throws(SystemCallError) -> [UInt8] {
        try BelfrySystem.bytes(of: descriptor, byteCount, at: 0)
    }

    /// Writes over the first bytes of the file; what is behind them stays.
    public func overwrite(_ bytes: [UInt8]) throws(SystemCallError) {
        // SAFETY: the call reads as many bytes as the buffer has.
        let outcome = unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return Int32(0) }
            return unsafe belfry_file_write(descriptor.rawValue, start, buffer.count)
        }
        _ = try checked(outcome, "pwrite")
    }

    /// Puts these bytes in the place of all that the file holds.
    public func rewrite(_ bytes: [UInt8]) throws(SystemCallError) {
        // SAFETY: the call reads as many bytes as the buffer has.
        let outcome = unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return Int32(0) }
            return unsafe belfry_file_rewrite(descriptor.rawValue, start, buffer.count)
        }
        _ = try checked(outcome, "pwrite")
    }
}

/// A file that is open for reading, or also for giving up its content.
public struct OpenFile: ~Copyable, Sendable {
    private let descriptor: Descriptor

    fileprivate init(descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Bytes from an offset on, fewer where the file ends.
    public func bytes(_ byteCount: Int, at offset: Int = 0) throws(SystemCallError) -> [UInt8] {
        try BelfrySystem.bytes(of: descriptor, byteCount, at: offset)
    }

    /// Gives the room of a file that was made here back to the disk, with all that is in it.
    public func empty() throws(SystemCallError) {
        _ = try checked(belfry_file_truncate(descriptor.rawValue), "ftruncate")
    }
}

private func bytes(
    of file: borrowing Descriptor, _ byteCount: Int, at offset: Int
) throws(SystemCallError) -> [UInt8] {
    let number = file.rawValue
    var outcome = 0
    // SAFETY: pread(2) writes at most `byteCount` bytes, and the buffer has room for that many.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
        guard let start = buffer.baseAddress else { return }
        outcome = unsafe belfry_file_read(number, start, byteCount, Int64(offset))
        count = max(outcome, 0)
    }
    if outcome < 0 {
        throw SystemCallError(call: "pread", errno: Int32(truncatingIfNeeded: -outcome))
    }
    return bytes
}
