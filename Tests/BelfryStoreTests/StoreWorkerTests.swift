import BelfryCenter
import BelfrySystem
import Testing

@testable import BelfryStore

@Suite("StoreWorker")
struct StoreWorkerTests {
    typealias Worker = StoreWorker<ScriptedStore>

    let script = ScriptedStore.Script()

    /// A worker that has laid its ballast at second 0.
    func worker(limits: StoreLimits = StoreLimits()) -> Worker {
        var worker = Worker(ScriptedStore(script: script), limits: limits)
        _ = worker.work(at: Self.second(0))
        script.calls = []
        return worker
    }

    static func second(_ number: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(number * 1e9))
    }

    static func batch(loop: Int = 0, _ ticket: UInt64) -> StoreBatch {
        StoreBatch(loop: loop, ticket: ticket, changes: [.observersReserved(through: ticket)])
    }

    @Test("the ballast stands before anything is promised")
    func start() {
        var worker = Worker(ScriptedStore(script: script), limits: StoreLimits())
        let progress = worker.work(at: Self.second(0))
        #expect(script.calls == ["shorten", "lay"])
        #expect(progress.weightLimit == (4 << 20) / 3 - Worker.reserveByteCount)
        let time1 = worker.nextTime
        #expect(time1 == Self.second(1))
    }

    @Test("what waits, of all loops, is committed in one transaction and told in its order")
    func group() {
        var worker = worker()
        worker.add([Self.batch(loop: 0, 1), Self.batch(loop: 1, 1)])
        worker.add([Self.batch(loop: 0, 2)])
        let progress = worker.work(at: Self.second(1))
        #expect(script.calls == ["commit"])
        #expect(
            script.committed == [
                [
                    .observersReserved(through: 1), .observersReserved(through: 1),
                    .observersReserved(through: 2),
                ]
            ])
        #expect(progress.committed.map(\.loop) == [0, 1, 0])
        #expect(progress.committed.map(\.ticket) == [1, 1, 2])
        let hasWork = worker.hasWork
        #expect(!hasWork)
    }

    @Test("memory is given back once nothing was committed for a second, and nothing waits")
    func rest() {
        var worker = worker()
        #expect(script.restCount == 1)
        worker.add([Self.batch(1)])
        _ = worker.work(at: Self.second(1))
        _ = worker.work(at: Self.second(1.9))
        #expect(script.restCount == 1)
        worker.add([Self.batch(2)])
        _ = worker.work(at: Self.second(2.5))
        #expect(script.restCount == 1)
        _ = worker.work(at: Self.second(3.5))
        #expect(script.restCount == 2)
    }

    @Test("on a full disk the ballast goes, the commit stands, and a second later the ballast")
    func ballast() {
        var worker = worker()
        script.outcomes = [.full]
        worker.add([Self.batch(1)])
        var progress = worker.work(at: Self.second(1))
        #expect(script.calls == ["commit fails", "give up", "shorten", "commit"])
        #expect(progress.committed.map(\.ticket) == [1])
        #expect(progress.notices == [.failed(.full)])
        #expect(progress.weightLimit == 0)
        let time2 = worker.nextTime
        #expect(time2 == Self.second(2))

        script.ballastRoom = 0
        progress = worker.work(at: Self.second(2))
        #expect(progress.weightLimit == 0)
        #expect(progress.notices.isEmpty)
        let time3 = worker.nextTime
        #expect(time3 == Self.second(3))

        // An eighth of it is enough to promise again, and less of it.
        script.ballastRoom = 512 << 10
        progress = worker.work(at: Self.second(3))
        #expect(progress.weightLimit == (512 << 10) / 3 - Worker.reserveByteCount)
        #expect(progress.weightLimit > 0)
        #expect(progress.notices == [.recovered])
        let time4 = worker.nextTime
        #expect(time4 == Self.second(4))
    }

    @Test(
        "while nothing can be committed all batches stay, and each second is a try",
        arguments: [StoreError.full, .failed(code: 10, errno: 5)])
    func retries(error: StoreError) {
        var worker = worker()
        // One at a second, then as few as can be of what has come meanwhile.
        script.outcomes = [error, error, error, error, error, error]
        worker.add([Self.batch(1)])
        var progress = worker.work(at: Self.second(1))
        #expect(script.calls == ["commit fails", "give up", "shorten", "commit fails"])
        #expect(progress.committed.isEmpty)
        #expect(progress.notices == [.failed(error)])
        let time5 = worker.nextTime
        #expect(time5 == Self.second(2))

        // More comes meanwhile: it is no reason to try at once.
        worker.add([Self.batch(2)])
        progress = worker.work(at: Self.second(1.5))
        #expect(script.calls.count == 4)
        for time in [2.0, 3.0] {
            progress = worker.work(at: Self.second(time))
            #expect(progress.committed.isEmpty && progress.notices.isEmpty)
            #expect(progress.weightLimit == 0)
        }
        progress = worker.work(at: Self.second(4))
        #expect(progress.committed.map(\.ticket) == [1, 2])
        #expect(script.committed == [[1, 2].map { .observersReserved(through: $0) }])
        #expect(progress.notices == [.recovered])
        #expect(progress.weightLimit > 0)
    }

    @Test("a disk that has no room for all may have it for fewer, in their order")
    func halves() {
        script.ballastRoom = 0
        var worker = worker()
        script.outcomes = [.full, .full, nil, .full]
        worker.add((1...9).map { Self.batch($0) })
        let progress = worker.work(at: Self.second(1))
        #expect(progress.committed.map(\.ticket) == Array(1...9))
        #expect(progress.transactionCount == 3)
        #expect(script.committed.map(\.count) == [2, 3, 4])
        #expect(
            script.calls == [
                "commit fails", "shorten", "commit fails", "shorten", "commit", "move",
                "commit fails", "shorten", "commit", "move", "commit", "shorten", "lay",
            ])
    }

    @Test("a store past its size promises nothing until it has less", arguments: [0, 1])
    func size(past: Int) {
        var limits = StoreLimits()
        limits.byteLimit = 1_000_000
        var worker = worker(limits: limits)
        script.usedByteCount = 1_000_000 + past
        worker.add([Self.batch(1)])
        var progress = worker.work(at: Self.second(1))
        #expect(progress.committed.count == 1)
        #expect((progress.weightLimit == 0) == (past == 1))
        #expect(
            progress.notices
                == (past == 1 ? [.oversized(byteCount: 1_000_001, limit: 1_000_000)] : []))
        worker.add([Self.batch(2)])
        progress = worker.work(at: Self.second(2))
        #expect(progress.notices.isEmpty)
        script.usedByteCount = 999_999
        worker.add([Self.batch(3)])
        progress = worker.work(at: Self.second(3))
        #expect(progress.weightLimit > 0)
    }

    @Test("a disk that has no room from the start promises nothing until it has")
    func fullFromTheStart() {
        script.ballastRoom = 0
        var worker = Worker(ScriptedStore(script: script), limits: StoreLimits())
        var progress = worker.work(at: Self.second(0))
        #expect(progress.weightLimit == 0)
        #expect(progress.notices == [.failed(.full)])
        let time6 = worker.nextTime
        #expect(time6 == Self.second(1))
        script.ballastRoom = 1 << 20
        progress = worker.work(at: Self.second(1))
        #expect(progress.notices == [.recovered])
        #expect(progress.weightLimit > 0)
    }

    @Test("it is told once that the store has its size again, some time after that")
    func shrinking() {
        var limits = StoreLimits()
        limits.byteLimit = 1_000
        var worker = worker(limits: limits)
        script.usedByteCount = 1_001
        worker.add([Self.batch(1)])
        var progress = worker.work(at: Self.second(1))
        #expect(progress.refusal == .size)
        script.usedByteCount = 1_000
        progress = worker.work(at: Self.second(2))
        #expect(progress.refusal == nil && progress.notices.isEmpty)
        script.usedByteCount = 1_001
        progress = worker.work(at: Self.second(3))
        #expect(progress.refusal == .size && progress.notices.isEmpty)
        script.usedByteCount = 999
        progress = worker.work(at: Self.second(7.9))
        #expect(progress.notices.isEmpty)
        progress = worker.work(at: Self.second(8.9))
        #expect(progress.notices == [.fits(byteCount: 999, limit: 1_000)])
        progress = worker.work(at: Self.second(20))
        #expect(progress.notices.isEmpty)
    }

    // MARK: Files that are not in their place

    @Test("a file that goes with a commit leaves it untold until the file is back")
    func displacedByCommit() {
        var worker = worker()
        script.displacesAfterCommit = true
        worker.add([Self.batch(1)])
        var progress = worker.work(at: Self.second(0.5))
        #expect(script.calls == ["commit"])
        #expect(progress.committed.isEmpty && progress.weightLimit == 0)
        #expect(progress.refusal == .displaced)
        #expect(progress.notices == [.failed(.displaced(.main))])

        // Nothing more is committed or moved meanwhile, nor told again.
        worker.add([Self.batch(2)])
        progress = worker.work(at: Self.second(1.6))
        let notices = worker.tidy()
        #expect(script.calls == ["commit"])
        #expect(progress.committed.isEmpty && progress.notices.isEmpty && notices.isEmpty)
        let time = worker.nextTime
        #expect(time == Self.second(2.6))

        script.displacesAfterCommit = false
        script.displaced = nil
        progress = worker.work(at: Self.second(2.6))
        #expect(script.calls == ["commit", "commit"])
        #expect(progress.committed.map(\.ticket) == [1, 2])
        #expect(progress.notices == [.recovered])
        #expect(progress.refusal == nil && progress.weightLimit > 0)
    }

    @Test(
        "while nothing comes it is looked each second whether the files are there",
        arguments: [StoreError.Part.directory, .main, .log, .lock])
    func displacedInPeace(part: StoreError.Part) {
        var worker = worker()
        script.displaced = part
        var progress = worker.work(at: Self.second(0.9))
        #expect(progress.refusal == nil)
        progress = worker.work(at: Self.second(1))
        #expect(progress.refusal == .displaced)
        #expect(progress.notices == [.failed(.displaced(part))])
        // The ballast of a directory that is somewhere else is left alone.
        #expect(script.calls.isEmpty)
    }

    @Test("a life whose files are not in their place does not end in order")
    func displacedEnd() {
        let worker1 = worker()
        script.displaced = .directory
        let isInOrder = worker1.close()
        #expect(!isInOrder)
        #expect(script.committed.isEmpty)

        script.displaced = nil
        let worker2 = worker()
        script.displacesAfterCommit = true
        let isInOrder2 = worker2.close()
        #expect(!isInOrder2)

        script.displaced = nil
        var worker3 = worker()
        worker3.add([Self.batch(1)])
        _ = worker3.work(at: Self.second(1))
        script.displaced = nil
        let isInOrder3 = worker3.close()
        #expect(!isInOrder3)
    }

    @Test("a small ballast grows again, but is not tried at each commit")
    func growth() {
        script.ballastRoom = 1 << 20
        var worker = worker()
        script.ballastRoom = 4 << 20
        worker.add([Self.batch(1)])
        _ = worker.work(at: Self.second(59))
        #expect(script.calls == ["commit"])
        worker.add([Self.batch(2)])
        let progress = worker.work(at: Self.second(60))
        #expect(script.calls == ["commit", "commit", "lay"])
        #expect(progress.weightLimit == (4 << 20) / 3 - Worker.reserveByteCount)
    }

    @Test("a log that cannot be shortened is told, and commits go on")
    func logStays() {
        var worker = worker()
        script.checkpointError = .full
        worker.add([Self.batch(1)])
        let progress = worker.work(at: Self.second(1))
        #expect(progress.committed.count == 1)
        #expect(progress.notices.isEmpty)
        #expect(progress.weightLimit > 0)
        let notices = worker.tidy()
        #expect(notices == [.logStays(.full)])
    }

    @Test("what is committed is told before the log is moved, and the log is looked at once")
    func tidy() {
        var worker = worker()
        var notices = worker.tidy()
        #expect(script.calls.isEmpty)
        worker.add([Self.batch(1), Self.batch(2)])
        let progress = worker.work(at: Self.second(1))
        #expect(progress.committed.count == 2)
        #expect(script.calls == ["commit"])
        notices += worker.tidy()
        notices += worker.tidy()
        #expect(script.calls == ["commit", "move"])
        #expect(notices.isEmpty)
    }

    @Test("the end in order is noted, if need be in the ballast's room, after all commits")
    func end() {
        let worker1 = worker()
        script.outcomes = [.full]
        let isInOrder = worker1.close()
        #expect(isInOrder)
        #expect(script.calls == ["commit fails", "give up", "commit"])

        let worker2 = worker()
        script.outcomes = [.full, .full]
        let isInOrder2 = worker2.close()
        #expect(!isInOrder2)

        var worker3 = worker()
        script.outcomes = [.full, .full]
        worker3.add([Self.batch(1)])
        _ = worker3.work(at: Self.second(1))
        script.calls = []
        let isInOrder3 = worker3.close()
        #expect(!isInOrder3)
        #expect(script.calls.isEmpty)
    }
}
