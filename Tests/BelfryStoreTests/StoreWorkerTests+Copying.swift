import BelfryCenter
import BelfrySystem
import Testing

@testable import BelfryStore

extension StoreWorkerTests {
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
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
