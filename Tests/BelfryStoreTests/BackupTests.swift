import BelfryCenter
import BelfrySystem
import Foundation
import Testing

@testable import BelfryStore

/// Copies of a store in use, and what becomes of them when they are put back.
@Suite("Store: backup")
struct BackupTests {
    typealias Outcome = Result<StoreCopy, BackupError>

    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The events of the store's threads, which tests can wait for.
    struct Told: Sendable {
        var committedThrough: UInt64 = 0
        var outcome: Outcome?
        var part: [UInt8]?
        /// The ticket whose commit the store's thread stays in.
        var heldBack: UInt64?
    }

    let told = Monitor(Told())

    static let name = Sample.bytes("default")

    /// A batch with as many clients as a step of a copy has pages, about.
    static func batch(_ ticket: UInt64) -> StoreBatch {
        let first = ticket * 1_000
        let clients = (first..<first + 100).map {
            StoreChange.center(name: name, .client(Sample.client($0)))
        }
        return StoreBatch(loop: 0, ticket: ticket, changes: clients)
    }

    func open(_ place: TemporaryDirectory? = nil) throws -> StoreFile {
        try StoreFile(directory: (place ?? directory).path, durability: .process)
    }

    /// A store on its thread, behind whose back something was done.
    func start(_ text: String = "") throws -> Store {
        let told = told
        let file = try StoreFile(directory: directory.path, durability: .process)
        try file.connection.execute(text)
        return try Store(
            file,
            onCommit: { _, ticket in
                told.change { $0.committedThrough = ticket }
                _ = told.take { $0.heldBack == ticket ? nil : true }
            }, onNotice: { _ in })
    }

    /// A store with a center and the clients of some batches.
    func filled(through last: UInt64) throws -> Store {
        let store = try start()
        let center = StoreChange.center(name: Self.name, .center(CenterRecord(epoch: [1])))
        store.submit(StoreBatch(loop: 0, ticket: 1, changes: [center]))
        for ticket in 2...last { store.submit(Self.batch(ticket)) }
        _ = told.take { $0.committedThrough == last ? true : nil }
        return store
    }

    func backUp(_ store: Store) throws(BackupError) {
        let told = told
        try store.backUp { outcome in told.change { $0.outcome = outcome } }
    }

    func outcome() throws -> Outcome { try #require(told.take { $0.outcome.take() }) }

    func bytes(of copy: StoreCopy) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let told = told
        while bytes.count < copy.byteCount {
            copy.readOn { part in told.change { $0.part = part } }
            let part = try #require(told.take { $0.part.take() })
            try #require(!part.isEmpty)
            bytes += part
        }
        return bytes
    }

    func batches(of image: StoreImage) -> [UInt64: Int] {
        image.centers[0].clients.reduce(into: [:]) { $0[$1.id / 1_000, default: 0] += 1 }
    }

    @Test("a copy that is made while commits go on has all before it, and of those a beginning")
    func consistency() throws {
        let store = try filled(through: 200)
        try backUp(store)
        var next: UInt64 = 201
        var outcome: Outcome?
        while outcome == nil {
            store.submit(Self.batch(next))
            _ = told.take { $0.committedThrough == next ? true : nil }
            next += 1
            outcome = told.change { $0.outcome.take() }
        }
        let copy = try #require(outcome).get()
        let place = try TemporaryDirectory()
        try place.write(try bytes(of: copy), to: "belfry.db")
        var restored = try open(place)
        let image = try restored.load()
        let counts = batches(of: image)
        let last = try #require(counts.keys.max())
        #expect(last >= 200)
        #expect(counts == Dictionary(uniqueKeysWithValues: (2...last).map { ($0, 100) }))
        #expect(image.isCopied)
        #expect(!directory.has(BackupFile.name))
        // The store itself has everything.
        #expect(store.close())
        var whole = try open()
        #expect(try batches(of: whole.load()).count == Int(next) - 2)
    }

    @Test("it may be put over the file that it was made of, whatever the log and the lock file say")
    func putBack() throws {
        let bytes: [UInt8]
        do {
            let store = try filled(through: 20)
            try backUp(store)
            bytes = try self.bytes(of: outcome().get())
            for ticket: UInt64 in 21...60 { store.submit(Self.batch(ticket)) }
            _ = told.take { $0.committedThrough == 60 ? true : nil }
        }
        // The thread of a store that is not closed ends by itself, as kill -9 would end it.
        while true {
            do {
                _ = try open()
                break
            } catch StoreError.locked {
                continue
            }
        }
        let log = try directory.bytes(of: "belfry.db-wal")
        #expect(!log.isEmpty)
        let handle = try #require(FileHandle(forWritingAtPath: directory.path(of: "belfry.db")))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(bytes))
        try handle.close()

        do {
            var file = try open()
            let image = try file.load()
            #expect(batches(of: image).keys.max() == 20)
            #expect(image.isCopied)
            #expect(try directory.bytes(of: "belfry.db-wal.replaced") == log)
            try file.commit(Self.batch(21).changes + [.epochsRenewed])
        }
        // Its own commits from then on stay, also when it is not closed.
        var file = try open()
        let image = try file.load()
        #expect(batches(of: image).keys.max() == 21)
        #expect(!image.isCopied)
    }

    @Test("there is one at a time, until nobody has the last one any more")
    func oneAtATime() throws {
        let store = try filled(through: 3)
        try backUp(store)
        #expect(throws: BackupError.underWay) { try backUp(store) }
        do {
            let copy = try outcome().get()
            #expect(throws: BackupError.underWay) { try backUp(store) }
            #expect(copy.byteCount % 4_096 == 0)
        }
        // The thread that handed the copy over may have it a moment longer.
        let end = MonotonicTime.now() + .seconds(10)
        var isBegun = false
        while !isBegun {
            do throws(BackupError) {
                try backUp(store)
                isBegun = true
            } catch {
                try #require(error == .underWay && MonotonicTime.now() < end)
            }
        }
        _ = try outcome().get()
    }

    @Test("a file that cannot be made is told, and the store goes on")
    func noFile() throws {
        let store = try filled(through: 3)
        let name = directory.path(of: BackupFile.name)
        try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: false)
        try backUp(store)
        #expect(
            throws: BackupError.failed(.system(SystemCallError(call: "unlinkat", errno: EISDIR)))
        ) {
            try outcome().get()
        }
        store.submit(Self.batch(4))
        #expect(told.take { $0.committedThrough == 4 ? true : nil } == true)
        try FileManager.default.removeItem(atPath: name)
        try backUp(store)
        _ = try outcome().get()
    }

    @Test("rows that are not what was written are found in the copy")
    func damage() throws {
        try filled(through: 2).close()
        let store = try start("UPDATE client SET principal = x'00' WHERE id < 2003")
        try backUp(store)
        #expect(throws: BackupError.failed(.damaged(.changedRows([.client: 3])))) {
            try outcome().get()
        }
        #expect(!directory.has(BackupFile.name))
    }

    @Test("a store that is closed makes none, and gives up the one that it makes")
    func closing() throws {
        let store = try filled(through: 3)
        told.change { $0.heldBack = 4 }
        store.submit(Self.batch(4))
        _ = told.take { $0.committedThrough == 4 ? true : nil }
        try backUp(store)
        store.beginClosing()
        #expect(throws: BackupError.closing) { try backUp(store) }
        told.change { $0.heldBack = nil }
        #expect(throws: BackupError.closing) { try outcome().get() }
        #expect(store.close())
        #expect(!directory.has(BackupFile.name))
    }

    @Test("what a copy has left is removed by the next start")
    func leftovers() throws {
        for suffix in ["", "-wal"] { try directory.write([1], to: BackupFile.name + suffix) }
        _ = try open()
        for suffix in ["", "-wal"] { #expect(!directory.has(BackupFile.name + suffix)) }
    }
}
