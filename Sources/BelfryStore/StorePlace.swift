internal import BelfrySystem

/// The places of the files of an open store, to notice when they are there no more.
///
/// A file that was removed, replaced or unmounted can still be written, but is lost to the next
/// start. The store has all of these files open, so no other file can have their numbers meanwhile.
struct StorePlace {
    private let files: [(part: StoreError.Part, identity: FileIdentity)]

    /// Notes where the files are now.
    init(in directory: borrowing Directory) throws(StoreError) {
        var files: [(part: StoreError.Part, identity: FileIdentity)] = []
        for part in [StoreError.Part.main, .log, .lock] {
            guard let identity = try Self.identity(of: part, in: directory) else {
                throw .displaced(part)
            }
            files.append((part, identity))
        }
        self.files = files
    }

    /// Finds out whether each path still leads to the file that is open.
    ///
    /// - Throws: `.displaced` with the first part that is not in its place.
    func check(in directory: borrowing Directory) throws(StoreError) {
        let isInPlace = try storeCall { () throws(SystemCallError) in try directory.isInPlace() }
        guard isInPlace else { throw .displaced(.directory) }
        for file in files {
            guard try Self.identity(of: file.part, in: directory) == file.identity else {
                throw .displaced(file.part)
            }
        }
    }

    private static func identity(
        of part: StoreError.Part, in directory: borrowing Directory
    ) throws(StoreError) -> FileIdentity? {
        try storeCall { () throws(SystemCallError) in
            try directory.status(of: part.rawValue)?.identity
        }
    }
}
