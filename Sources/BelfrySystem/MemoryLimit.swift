internal import CBelfrySystem

/// The memory limit of the process by its control groups (cgroups(7)).
public enum MemoryLimit {
    /// The smallest limit of the process's groups in bytes; nil where there is none.
    public static func current() -> Int? {
        guard let groups = read("/proc/self/cgroup") else { return nil }
        return smallest(groups: groups, read: read)
    }

    /// Gives each block of memory that is freed and has so many bytes back to the system at once.
    ///
    /// Otherwise the allocator keeps what many large buffers once took, in pieces.
    public static func returnLargeBlocks(from byteCount: Int = 256 << 10) {
        belfry_return_large_blocks(byteCount)
    }

    private static func read(_ path: String) -> [UInt8]? {
        do throws(SystemCallError) {
            return try WholeFile.read(path: path, byteLimit: 65_536)
        } catch {
            // A group that cannot be read limits nothing that could be known.
            return nil
        }
    }

    /// The smallest limit of these groups, of those around them too.
    ///
    /// - Parameters:
    ///   - groups: the text of `/proc/self/cgroup`.
    ///   - read: gives the content of a file, or nil.
    static func smallest(groups: [UInt8], read: (String) -> [UInt8]?) -> Int? {
        var limits: [Int] = []
        for line in groups.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(
                separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isUnified = parts[0].elementsEqual("0".utf8) && parts[1].isEmpty
            let controllers = parts[1].split(separator: UInt8(ascii: ","))
            let hasMemory = controllers.contains { $0.elementsEqual("memory".utf8) }
            guard isUnified || hasMemory else { continue }
            let root = isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"
            let file = isUnified ? "memory.max" : "memory.limit_in_bytes"
            for path in pathsUpwards(parts[2]) {
                if let text = read("\(root)\(path)/\(file)"), let limit = number(text) {
                    limits.append(limit)
                }
            }
        }
        return limits.min()
    }

    /// A path and all above it; the last one is empty, which is the root.
    private static func pathsUpwards(_ path: ArraySlice<UInt8>) -> [String] {
        var names = path.split(separator: UInt8(ascii: "/")).prefix(64)
            .map { String(decoding: $0, as: UTF8.self) }
        var paths: [String] = []
        while !names.isEmpty {
            paths.append("/" + names.joined(separator: "/"))
            names.removeLast()
        }
        return paths + [""]
    }

    /// A number of bytes; `max`, and numbers as good as that, are no limit.
    private static func number(_ text: [UInt8]) -> Int? {
        let digits = text.prefix { (48...57).contains($0) }
        guard !digits.isEmpty, let number = Int(String(decoding: digits, as: UTF8.self)),
            number < 1 << 50
        else { return nil }
        return number
    }
}
