import BelfryCenter
import BelfrySystem
import Foundation
import Testing

@testable import BelfryStore

/// Files that go away under a store that has them open.
@Suite("StorePlace")
struct StorePlaceTests {
    let parent: TemporaryDirectory
    let path: String

    init() throws {
        parent = try TemporaryDirectory()
        path = parent.path(of: "data")
    }

    /// A loss of files, with the part that is missed then.
    enum Loss: CaseIterable {
        case mainRemoved, logRemoved, lockRemoved, mainReplaced, directoryRemoved, directoryMoved
        case directoryReplaced

        var part: StoreError.Part {
            switch self {
            case .mainRemoved, .mainReplaced: .main
            case .logRemoved: .log
            case .lockRemoved: .lock
            case .directoryRemoved, .directoryMoved, .directoryReplaced: .directory
            }
        }
    }

    private func bring(_ loss: Loss) throws {
        let files = FileManager.default
        let main = path + "/belfry.db"
        switch loss {
        case .mainRemoved: try files.removeItem(atPath: main)
        case .logRemoved: try files.removeItem(atPath: main + "-wal")
        case .lockRemoved: try files.removeItem(atPath: path + "/belfry.lock")
        case .mainReplaced:
            try files.copyItem(atPath: main, toPath: path + "/copy")
            try files.removeItem(atPath: main)
            try files.moveItem(atPath: path + "/copy", toPath: main)
        case .directoryRemoved: try files.removeItem(atPath: path)
        case .directoryMoved: try files.moveItem(atPath: path, toPath: path + ".old")
        case .directoryReplaced:
            try files.moveItem(atPath: path, toPath: path + ".old")
            try files.copyItem(atPath: path + ".old", toPath: path)
        }
    }

    @Test("what is not where it was is named", arguments: Loss.allCases)
    func loss(_ loss: Loss) throws {
        var file = try StoreFile(directory: path, durability: .process)
        try file.checkPlace()
        try file.commit([.observersReserved(through: 3)])
        try file.shortenLog()
        try file.layBallast()
        try file.checkPlace()
        try bring(loss)
        #expect(throws: StoreError.displaced(loss.part)) { try file.checkPlace() }
    }

    @Test("a directory that is moved back is in its place again")
    func movedBack() throws {
        let file = try StoreFile(directory: path, durability: .process)
        try bring(.directoryMoved)
        #expect(throws: StoreError.displaced(.directory)) { try file.checkPlace() }
        try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
        try file.checkPlace()
    }

    @Test("a running store tells nobody of what it wrote into files that are gone")
    func running() throws {
        let told = Monitor((commits: [UInt64](), notices: [StoreNotice]()))
        let file = try StoreFile(directory: path, durability: .process)
        let store = try Store(
            file, onCommit: { _, ticket in told.change { $0.commits.append(ticket) } },
            onNotice: { notice in told.change { $0.notices.append(notice) } })
        func batch(_ ticket: UInt64) -> StoreBatch {
            StoreBatch(loop: 0, ticket: ticket, changes: [.observersReserved(through: ticket)])
        }
        store.submit(batch(1))
        _ = told.take { $0.commits == [1] ? true : nil }
        try bring(.directoryMoved)
        store.submit(batch(2))
        _ = told.take { $0.notices.isEmpty ? nil : true }
        #expect(told.change { $0.notices } == [.failed(.displaced(.directory))])
        #expect(told.change { $0.commits } == [1])
        #expect(!store.acceptsPromises)
        #expect(store.noteRefusal() == .displaced)
        #expect(store.figures.failureCount == 1)
        #expect(store.figures.refusals == [.displaced: 1])

        try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
        _ = told.take { $0.notices.last == .recovered ? true : nil }
        #expect(told.change { $0.commits } == [1, 2])
        #expect(store.acceptsPromises)
        #expect(store.close())
    }
}
