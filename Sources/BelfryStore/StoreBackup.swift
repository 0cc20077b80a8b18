/// A backup that is under way: pages of a store that go into a file beside it, between its commits.
struct StoreBackup: ~Copyable {
    /// How many pages are copied at a time, which a commit may wait for.
    static let stepPageCount = 32

    let file: BackupFile
    private let pages: PageCopy
    private let target: Connection

    /// Begins one.
    init(of source: borrowing Connection, into file: BackupFile) throws(StoreError) {
        self.file = file
        let target = try file.target()
        pages = try PageCopy(from: source, to: target)
        self.target = target
    }

    /// Copies some pages more, and tells whether those were the last.
    func goOn() throws(StoreError) -> Bool {
        try pages.copy(pageCount: Self.stepPageCount)
    }
}
