import BelfryCenter

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
