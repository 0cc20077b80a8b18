import BelfryCenter
import BelfrySystem
import Foundation
import Testing

@testable import BelfryStore

/// The store on its thread.
@Suite("Store")
struct StoreTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The calls of the thread, which tests can wait for.
    struct Told: Sendable {
        var commits: [[UInt64]] = []
        var notices: [StoreNotice] = []
        /// Whether the thread must wait inside of its first call.
        var isHeldBack = false
        var isInside = false
    }

    let told = Monitor(Told())

    func start(limits: StoreLimits = StoreLimits()) throws -> Store {
        let told = told
        let file = try StoreFile(
            directory: directory.path, durability: .process, limits: limits)
        return try Store(
            file,
            onCommit: { loop, ticket in
                told.change { told in
                    told.commits.append([UInt64(loop), ticket])
                    told.isInside = true
                }
                _ = told.take { $0.isHeldBack ? nil : true }
            },
            onNotice: { notice in told.change { $0.notices.append(notice) } })
    }

    func image() throws -> StoreImage {
        var file = try StoreFile(directory: directory.path, durability: .process)
        return try file.load()
    }

    static let name = Sample.bytes("default")

    static func batch(_ loop: Int, _ ticket: UInt64, _ changes: Change...) -> StoreBatch {
        StoreBatch(
            loop: loop, ticket: ticket, changes: changes.map { .center(name: name, $0) })
    }

    @Test("each batch is told after its commit, in the order in which they came")
    func order() throws {
        let store = try start()
        store.submit(Self.batch(0, 1, .center(CenterRecord(epoch: [1]))))
        for ticket: UInt64 in 2...200 {
            #expect(
                store.submit(Self.batch(Int(ticket % 3), ticket, .client(Sample.client(ticket)))))
        }
        // A batch without changes is told in its place too.
        store.submit(Self.batch(7, 201))
        let commits = told.take { $0.commits.count == 201 ? $0.commits : nil }
        #expect(commits?.map { $0[1] } == Array(1...201))
        #expect(store.close())
        let image = try image()
        #expect(image.centers[0].clients.count == 199)
        #expect(image.isComplete)
        #expect(told.change { $0.notices }.isEmpty)
    }

    @Test("what two loops hand in during a commit is committed together")
    func group() throws {
        told.change { $0.isHeldBack = true }
        let store = try start()
        store.submit(Self.batch(0, 1, .center(CenterRecord(epoch: [1]))))
        _ = told.take { $0.isInside ? true : nil }
        for ticket: UInt64 in 2...9 {
            store.submit(Self.batch(Int(ticket % 2), ticket, .client(Sample.client(ticket))))
        }
        told.change { $0.isHeldBack = false }
        _ = told.take { $0.commits.count == 9 ? true : nil }
        #expect(store.close())
        // Nine batches and two transactions, and the one that notes the end.
        #expect(store.figures.commitCount == 2)
    }

    @Test("a store that stands still takes no promises until it has committed")
    func standstill() throws {
        told.change { $0.isHeldBack = true }
        let store = try start()
        #expect(!store.keepsNothing)
        store.submit(Self.batch(0, 1, .center(CenterRecord(epoch: [1]))))
        _ = told.take { $0.isInside ? true : nil }
        store.submit(Self.batch(0, 2, .client(Sample.client(2))))
        for _ in 0..<2 { store.noteStandstill() }
        #expect(told.change { $0.notices } == [.standsStill])
        #expect(!store.acceptsPromises)
        #expect(store.keepsNothing)
        #expect(store.isHeldUp(for: .zero))
        #expect(!store.isHeldUp(for: .seconds(3_600)))
        #expect(store.noteRefusal() == .failing)
        told.change { $0.isHeldBack = false }
        _ = told.take { $0.notices.count == 2 ? true : nil }
        #expect(told.change { $0.notices } == [.standsStill, .recovered])
        #expect(store.acceptsPromises)
        #expect(!store.keepsNothing)
        #expect(store.close())
    }

    @Test("the end of a store does not wait for a thread that the disk holds up")
    func heldUpEnd() throws {
        told.change { $0.isHeldBack = true }
        let store = try start()
        store.submit(Self.batch(0, 1, .center(CenterRecord(epoch: [1]))))
        _ = told.take { $0.isInside ? true : nil }
        store.noteStandstill()
        let start = MonotonicTime.now()
        #expect(!store.close())
        let time = MonotonicTime.now() - start
        #expect(time >= Store.patienceWithNothing && time < .seconds(5))
        told.change { $0.isHeldBack = false }
    }

    @Test("a store whose directory was moved ends within a second, and tells so")
    func displacedEnd() throws {
        let store = try start()
        let other = directory.path + "-moved"
        try FileManager.default.moveItem(atPath: directory.path, toPath: other)
        defer { try? FileManager.default.removeItem(atPath: other) }
        store.submit(Self.batch(0, 1, .center(CenterRecord(epoch: [1]))))
        _ = told.take { $0.notices.isEmpty ? nil : true }
        #expect(store.keepsNothing)
        let start = MonotonicTime.now()
        #expect(!store.close())
        #expect(MonotonicTime.now() - start < .seconds(5))
        #expect(told.change { $0.commits }.isEmpty)
    }

    @Test("closing commits what waits, and nothing is taken after it")
    func closing() throws {
        told.change { $0.isHeldBack = true }
        let store = try start()
        store.submit(Self.batch(0, 1, .center(CenterRecord(epoch: [1]))))
        store.submit(Self.batch(0, 2, .client(Sample.client(1))))
        let waiting = Self.batch(0, 3, .client(Sample.client(2)))
        #expect(store.submit(waiting))
        told.change { $0.isHeldBack = false }
        #expect(store.close())
        #expect(!store.acceptsPromises)
        #expect(!store.submit(Self.batch(0, 4, .client(Sample.client(3)))))
        #expect(store.close())
        #expect(try image().centers[0].clients == [Sample.client(1), Sample.client(2)])
    }

    @Test("a store that nobody closes has what was committed, and no end in order")
    func abandoned() throws {
        do {
            let store = try start()
            store.submit(Self.batch(0, 1, .center(CenterRecord(epoch: [1]))))
            _ = told.take { $0.commits.isEmpty ? nil : true }
        }
        // The thread ends by itself; its lock tells when.
        var image: StoreImage?
        while image == nil {
            do {
                image = try self.image()
            } catch StoreError.locked {
                continue
            }
        }
        #expect(image?.centers.count == 1)
        #expect(image?.isComplete == false)
    }

    @Test("promises end when more waits than the ballast has room for, and begin again after it")
    func bound() throws {
        told.change { $0.isHeldBack = true }
        var limits = StoreLimits()
        limits.ballastByteCount = 1 << 20
        let store = try start(limits: limits)
        #expect(store.acceptsPromises)
        store.submit(Self.batch(0, 1, .center(CenterRecord(epoch: [1]))))
        _ = told.take { $0.isInside ? true : nil }
        var (sequence, weight): (UInt64, Int) = (0, 0)
        let limit = (1 << 20) / 3 - StoreWorker<StoreFile>.reserveByteCount
        while weight <= limit {
            #expect(store.acceptsPromises)
            sequence += 1
            let batch = Self.batch(
                0, sequence + 1, .notification(Sample.notification(sequence, byteCount: 30_000)))
            // Applied changes are taken all the same.
            #expect(store.submit(batch))
            weight += batch.weight
        }
        #expect(!store.acceptsPromises)
        told.change { $0.isHeldBack = false }
        let count = Int(sequence) + 1
        _ = told.take { $0.commits.count == count ? true : nil }
        #expect(store.acceptsPromises)
        #expect(store.close())
    }

    @Test("the ballast stands on the disk while the store runs")
    func ballast() throws {
        let store = try start()
        #expect(try directory.bytes(of: "belfry.ballast").count == 32 << 20)
        #expect(store.acceptsPromises)
        #expect(store.close())
    }

    @Test("a store past its size takes no promises, and takes them again when it shrinks")
    func size() throws {
        var limits = StoreLimits()
        limits.byteLimit = 300_000
        let store = try start(limits: limits)
        #expect(store.acceptsPromises)
        store.submit(Self.batch(0, 1, .center(CenterRecord(epoch: [1]))))
        let large = Sample.notification(1, byteCount: 400_000)
        store.submit(Self.batch(0, 2, .notification(large)))
        _ = told.take { $0.commits.count == 2 ? true : nil }
        #expect(!store.acceptsPromises)
        #expect(store.noteRefusal() == .size)
        store.submit(Self.batch(0, 3, .notificationReleased(sequence: 1)))
        _ = told.take { $0.commits.count == 3 ? true : nil }
        #expect(store.acceptsPromises)
        #expect(store.close())
        let notices = told.change { $0.notices }
        #expect(notices.count == 1)
    }
}
