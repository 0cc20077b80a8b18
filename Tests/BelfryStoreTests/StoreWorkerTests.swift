import BelfryCenter
import BelfrySystem
import Testing

@testable import BelfryStore

/// A store that fails as it is told to, and writes down what is asked of it.
struct ScriptedStore: ~Copyable, CommitTarget {
    /// The state of the store, which the worker owns, for a test.
    final class Script {
        /// Errors of the next commits, nil for one that succeeds as all after the last do.
        var outcomes: [StoreError?] = []
        /// The room for a ballast.
        var ballastRoom = 4 << 20
        var ballastByteCount = 0
        var usedByteCount = 0
        /// The part that is not in its place.
        var displaced: StoreError.Part?
        /// Whether the main file goes with the next commit.
        var displacesAfterCommit = false
        var checkpointError: StoreError?
        /// The results of the next steps of a copy.
        var copySteps: [Result<BackupFile?, StoreError>] = []
        var calls: [String] = []
        /// How often memory was to be given back.
        var restCount = 0
        var committed: [[StoreChange]] = []
    }

    let script: Script

    var ballastByteCount: Int { script.ballastByteCount }
    var usedByteCount: Int { script.usedByteCount }
    var logByteCount: Int { 0 }

    func giveMemoryBack() { script.restCount += 1 }

    func checkPlace() throws(StoreError) {
        if let part = script.displaced { throw .displaced(part) }
    }

    mutating func commit(_ changes: [StoreChange]) throws(StoreError) {
        try write(changes)
    }

    mutating func write(_ changes: [StoreChange]) throws(StoreError) {
        let outcome = script.outcomes.isEmpty ? nil : script.outcomes.removeFirst()
        script.calls.append(outcome == nil ? "commit" : "commit fails")
        if let outcome { throw outcome }
        script.committed.append(changes)
        if script.displacesAfterCommit { script.displaced = .main }
    }

    mutating func load(_ tell: (consuming StoredPiece) -> Void) {}

    mutating func layBallast() throws(StoreError) {
        script.calls.append("lay")
        if script.ballastRoom > 0 { script.ballastByteCount = script.ballastRoom }
        if script.ballastByteCount == 0 { throw .full }
    }

    mutating func shortenLog() throws(StoreError) {
        script.calls.append("shorten")
    }

    mutating func giveUpBallast() throws(StoreError) {
        script.calls.append("give up")
        script.ballastByteCount = 0
    }

    mutating func moveLog() -> StoreError? {
        script.calls.append("move")
        defer { script.checkpointError = nil }
        return script.checkpointError
    }

    mutating func beginCopy() throws(StoreError) {
        script.calls.append("copy")
    }

    mutating func copyOn() throws(StoreError) -> BackupFile? {
        script.calls.append("copy on")
        return script.copySteps.isEmpty ? nil : try script.copySteps.removeFirst().get()
    }

    mutating func endCopy() throws(StoreError) {
        script.calls.append("end copy")
    }

    mutating func noteEnd() throws(StoreError) {
        try commit([.cleanEnd])
    }
}

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

    @Test("a copy goes on at each turn, and is told once: as a file, or as what it failed with")
    func copying() throws {
        let directory = try TemporaryDirectory()
        let place = try Directory(path: directory.path)
        let file = try BackupFile(in: place, path: directory.path, byteCount: 1)
        var worker = worker()
        #expect(worker.copyOn() == nil)
        worker.beginCopy()
        #expect(worker.nextTime == Self.second(0))
        script.copySteps = [.success(nil), .success(file)]
        #expect(worker.copyOn() == nil)
        worker.add([Self.batch(1)])
        let progress = worker.work(at: Self.second(1))
        #expect(progress.committed.count == 1)
        #expect(try worker.copyOn()?.get() === file)
        #expect(script.calls == ["copy", "copy on", "commit", "copy on"])
        #expect(worker.copyOn() == nil)
        #expect(worker.nextTime == Self.second(2))

        worker.beginCopy()
        script.copySteps = [.failure(.failed(code: 10, errno: 5))]
        #expect(worker.copyOn()?.failure == .failed(code: 10, errno: 5))
        #expect(worker.copyOn() == nil)
    }

    @Test("where a commit fails the copy goes first, also one that is read, and none is begun")
    func copyOnFullDisk() throws {
        let directory = try TemporaryDirectory()
        let place = try Directory(path: directory.path)
        try directory.write([1, 2, 3], to: "other")
        let file = try BackupFile(in: place, path: directory.path, byteCount: 1)
        try directory.write([1, 2, 3], to: BackupFile.name)
        var worker = worker()
        worker.beginCopy()
        script.copySteps = [.success(file)]
        _ = worker.copyOn()
        #expect(try file.bytes(9, at: 0) == [1, 2, 3])
        worker.beginCopy()
        script.calls = []
        script.outcomes = [.full]
        worker.add([Self.batch(1)])
        let progress = worker.work(at: Self.second(1))
        #expect(progress.committed.count == 1)
        #expect(script.calls == ["commit fails", "end copy", "give up", "shorten", "commit"])
        #expect(worker.copyOn()?.failure == .full)
        #expect(try file.bytes(9, at: 0).isEmpty)
        #expect(!directory.has(BackupFile.name))

        // The ballast is not laid yet.
        script.calls = []
        worker.beginCopy()
        #expect(worker.copyOn()?.failure == .full)
        #expect(script.calls.isEmpty)
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

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
