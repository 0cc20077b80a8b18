internal import CBelfrySystem
internal import Glibc

/// Numbers in memory that outlive their process, also by kill -9, but not the machine.
///
/// They are a file of a file system in memory, so no access waits for a disk. Parts have room once
/// it was reserved. The next process reads them as ``LeftWords``.
@safe public final class SharedWords: Sendable {
    private let descriptor: Descriptor
    // SENDABLE: the memory is there as long as the value; who writes which word is for its users to
    // say.
    private nonisolated(unsafe) let words: UnsafeMutablePointer<UInt64>
    private let count: Int

    /// Makes numbers under a name, in the place of those that are there; all are 0.
    public init(name: String, count: Int) throws(SystemCallError) {
        let byteCount = count * MemoryLayout<UInt64>.stride
        // SAFETY: the text lives until the call returns.
        let outcome = unsafe belfry_shared_create(sharedPath(name), Int64(byteCount))
        descriptor = Descriptor(owning: try checked(outcome, "open"))
        // SAFETY: the file has so many bytes, and stays mapped until the value ends.
        guard let memory = unsafe belfry_shared_map(descriptor.rawValue, byteCount) else {
            throw SystemCallError(call: "mmap", errno: ENOMEM)
        }
        // SAFETY: a mapping begins at a page, and holds `count` words.
        unsafe words = memory.bindMemory(to: UInt64.self, capacity: count)
        self.count = count
    }

    deinit {
        // SAFETY: nobody has the value any more, and the mapping is that of `init`.
        _ = unsafe munmap(words, count * MemoryLayout<UInt64>.stride)
    }

    /// Reserves room for some of the numbers, before any of them is written.
    public func reserve(_ range: Range<Int>) throws(SystemCallError) {
        let size = MemoryLayout<UInt64>.stride
        let status = belfry_shared_reserve(
            descriptor.rawValue, Int64(range.lowerBound * size), Int64(range.count * size))
        _ = try checked(status, "posix_fallocate")
    }

    /// Writes a number.
    @inline(__always)
    public func write(_ number: UInt64, at index: Int) {
        precondition(index >= 0 && index < count, "a number has a place")
        // SAFETY: the index lies in the mapping, as was just checked.
        unsafe words[index] = number
    }
}

/// Where the numbers of a name are.
private func sharedPath(_ name: String) -> String { "/dev/shm/\(name)" }

/// The ``SharedWords`` that an earlier process left.
public struct LeftWords: ~Copyable {
    private let descriptor: Descriptor

    /// Opens them; nil where they are not there, or not of this user.
    public init?(name: String, count: Int) {
        let byteCount = count * MemoryLayout<UInt64>.stride
        // SAFETY: the text lives until the call returns.
        let number = unsafe belfry_shared_open(sharedPath(name), Int64(byteCount))
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
    }

    /// Reads some of the numbers; none where they cannot be read.
    public func read(_ range: Range<Int>) -> [UInt64] {
        let size = MemoryLayout<UInt64>.stride
        // SAFETY: pread(2) writes at most as many bytes as `range.count` words have, for which the
        // buffer has room.
        return unsafe [UInt64](unsafeUninitializedCapacity: range.count) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            let outcome = unsafe belfry_file_read(
                descriptor.rawValue, start, range.count * size, Int64(range.lowerBound * size))
            count = outcome == range.count * size ? range.count : 0
        }
    }
}
