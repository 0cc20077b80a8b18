internal import BelfrySystem

/// A data directory that this process alone has, as long as the value lives.
public struct DataLock: ~Copyable, Sendable {
    let path: String
    let directory: Directory
    let file: LockedFile

    /// Locks a directory, which is made if it is not there.
    ///
    /// - Throws: `StoreError.locked` when another process has it, and what the disk may cause.
    public init(directory path: String) throws(StoreError) {
        let directory = try storeCall { () throws(SystemCallError) in try Directory(path: path) }
        let locked = try storeCall { () throws(SystemCallError) in
            try directory.lock(StoreOpening.lockName)
        }
        guard let file = locked else { throw .locked }
        self.path = path
        self.directory = directory
        self.file = file
    }

    /// The device and the file number of the lock file, which identify the directory.
    public func identity() throws(StoreError) -> (device: UInt64, file: UInt64) {
        let status = try storeCall { () throws(SystemCallError) in
            try directory.status(of: StoreOpening.lockName)
        }
        return (status?.identity.device ?? 0, status?.identity.inode ?? 0)
    }
}
