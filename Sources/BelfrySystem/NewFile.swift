internal import CBelfrySystem

/// A file that gets its name once it is whole and on the disk; its program may wait for a disk.
///
/// Until then its name ends with `.partial`.
public final class NewFile: Sendable {
    private let path: String
    private let descriptor: Descriptor
    /// Whether it has its name, or never will.
    private let isOver = Monitor(false)

    /// Begins a file for its owner alone.
    ///
    /// - Throws: `EEXIST` when there is a file of the name, or one that was not finished.
    public init(path: String) throws(SystemCallError) {
        // SAFETY: the path lives until the call returns.
        let number = try checked(unsafe belfry_new_file_create(path, Self.partial(path)), "open")
        descriptor = Descriptor(owning: number)
        self.path = path
    }

    /// The name of the file until it is whole.
    public static func partial(_ path: String) -> String { path + ".partial" }

    /// Writes all of the bytes behind those before.
    public func write(_ bytes: [UInt8]) throws(SystemCallError) {
        try writeAll(bytes.span, to: descriptor.rawValue)
    }

    /// Waits until the disk has all of it, and gives it its name.
    public func finish() throws(SystemCallError) {
        _ = try checked(belfry_file_synchronize(descriptor.rawValue), "fsync")
        let outcome = isOver.change { isOver -> Int32 in
            if isOver { return 0 }
            isOver = true
            // SAFETY: both texts live until the call returns.
            return unsafe belfry_new_file_name(Self.partial(path), path)
        }
        _ = try checked(outcome, "rename")
    }

    /// Removes it, unless it has its name.
    public func discard() {
        isOver.change { isOver in
            if isOver { return }
            isOver = true
            // SAFETY: the text lives until the call returns.
            _ = unsafe belfry_new_file_remove(Self.partial(path))
        }
    }
}
