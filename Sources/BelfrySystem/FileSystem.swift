internal import CBelfrySystem

/// Where a directory lies: what kind of file system it is, and how much of it is free.
public struct FileSystem: Equatable, Sendable {
    /// The kinds of file systems, as far as they matter to a database.
    public enum Kind: Equatable, Sendable {
        /// A disk of this machine, as far as can be told.
        case disk
        /// Another machine's, whose locks and writes cannot be relied on.
        case network
        /// Memory, which is empty after the machine has started again.
        case memory
        /// The upper layer of a container, which goes with it.
        case overlay
    }

    /// The kind.
    public let kind: Kind
    /// How many bytes this user may still write.
    public let freeByteCount: Int

    /// Joins the facts about one.
    public init(kind: Kind, freeByteCount: Int) {
        self.kind = kind
        self.freeByteCount = freeByteCount
    }

    /// Reads the facts about the one of a path.
    public init(of path: String) throws(SystemCallError) {
        // SAFETY: the path is passed as a string that ends in a zero byte.
        let state = unsafe belfry_file_system_of(path)
        _ = try checked(state.status, "statfs")
        self.init(kind: Self.kind(of: state.kind), freeByteCount: Int(state.free_bytes))
    }

    /// The numbers of statfs(2).
    private static func kind(of number: Int64) -> Kind {
        switch number {
        // NFS, SMB, CIFS, SMB2, 9P, Ceph, AFS and FUSE, which may be anything.
        case 0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x00C3_6400, 0x5346_414F,
            0x6573_5546:
            .network
        // tmpfs and ramfs.
        case 0x0102_1994, 0x8584_58F6: .memory
        case 0x794C_7630: .overlay
        default: .disk
        }
    }
}
