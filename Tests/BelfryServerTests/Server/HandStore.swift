import BelfryCenter
import BelfryLoop
import BelfryStore
import BelfrySystem
import Synchronization
import Testing

@testable import BelfryServer

/// A store in memory that commits when a test says so.
final class HandStore: StoreDoor {
    private struct State {
        var memory = MemoryStore()
        var waiting: [StoreBatch] = []
        var takesPromises = true
        var isBehind = false
        var refusalCount = 0
        var isFailing = false
        var isFull = false
        var keepsNothing = false
        var figures = StoreFigures()
        /// The requester of a copy.
        var backup: BackupOutcome?
        /// The mailboxes to tell once everything is committed, after the end.
        var mailboxes: [LoopMailbox<LoopMessage>] = []
    }

    private let state = Mutex(State())

    func hand(_ batch: StoreBatch) {
        state.withLock { $0.waiting.append(batch) }
    }

    var takesPromises: Bool {
        get { state.withLock { $0.takesPromises } }
        set { state.withLock { $0.takesPromises = newValue } }
    }

    var isBehind: Bool {
        get { state.withLock { $0.isBehind } }
        set { state.withLock { $0.isBehind = newValue } }
    }

    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    var isFailing: Bool {
        get { state.withLock { $0.isFailing } }
        set { state.withLock { $0.isFailing = newValue } }
    }

    /// Whether a promise was not kept in time; a commit says that it is over.
    var keepsNothing: Bool { state.withLock { $0.keepsNothing } }

    func isHeldUp(for time: Duration) -> Bool { keepsNothing }

    func noteStandstill() {
        state.withLock { $0.keepsNothing = true }
    }

    func end(telling mailboxes: [LoopMailbox<LoopMessage>]) {
        state.withLock { $0.mailboxes = mailboxes }
        tellEnd()
    }

    /// Tells that the data is given up, once nothing waits any more.
    private func tellEnd() {
        let mailboxes = state.withLock { state in
            guard state.waiting.isEmpty else { return [LoopMailbox<LoopMessage>]() }
            defer { state.mailboxes = [] }
            return state.mailboxes
        }
        for mailbox in mailboxes { #expect(mailbox.post(.released)) }
    }

    var figures: StoreFigures {
        get { state.withLock { $0.figures } }
        set { state.withLock { $0.figures = newValue } }
    }

    func noteRefusal() {
        state.withLock { $0.refusalCount += 1 }
    }

    func backUp(_ onOutcome: @escaping BackupOutcome) throws(BackupError) {
        let isFirst = state.withLock { state in
            guard state.backup == nil else { return false }
            state.backup = onOutcome
            return true
        }
        if !isFirst { throw .underWay }
    }

    /// Tells the requester of a copy its outcome.
    func endBackup(_ outcome: Result<StoreCopy, BackupError>, in broker: Broker) throws {
        let asked = state.withLock { $0.backup.take() }
        let onOutcome = try #require(asked)
        onOutcome(outcome)
        try broker.crank()
    }

    /// How many answers said that something cannot be stored.
    var refusalCount: Int { state.withLock { $0.refusalCount } }

    /// How many batches wait to be committed.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The changes of centers that wait to be committed.
    var waitingChanges: [Change] {
        state.withLock { $0.waiting }.flatMap(\.changes).flatMap { change -> [Change] in
            guard case .center(_, let changes) = change else { return [] }
            return changes
        }
    }

    /// The key of the tags of values, which belongs to the store.
    private static let tagKey = TagKey(high: 17, low: 18)

    /// The beginning of a new life; batches that were not committed are lost.
    func beginning(
        afterOrderlyEnd: Bool = true, limits: CenterLimits = CenterLimits(),
        memory: MemoryLimits = MemoryLimits(), at time: CommandTime = .embeddedStart
    ) throws -> Beginning {
        try state.withLock { state in
            state.waiting = []
            if afterOrderlyEnd { try state.memory.commit([.cleanEnd]) }
            state.memory.restart()
            var beginning = try Beginning(
                of: &state.memory, limits: limits, memory: memory, at: time, epoch: "epoch")
            beginning.store = self
            beginning.secrets.tagKey = Self.tagKey
            return beginning
        }
    }

    /// Commits what waits, or only the oldest batches of it, and lets the broker know.
    func commit(_ count: Int = .max, in broker: Broker) throws {
        let batches = state.withLock { state in
            let batches = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(batches.count)
            state.keepsNothing = false
            return batches
        }
        for batch in batches {
            try state.withLock { try $0.memory.commit(batch.changes) }
            #expect(broker.shared.mailboxes[batch.loop].post(.committed(batch.ticket)))
        }
        tellEnd()
        try broker.crank()
    }
}

extension Beginning {
    /// Makes the beginning of a broker with a store.
    init(
        of store: inout MemoryStore, limits: CenterLimits = CenterLimits(),
        memory: MemoryLimits = MemoryLimits(), at time: CommandTime = .embeddedStart,
        epoch: String
    ) throws {
        var configuration = ServerConfiguration()
        configuration.memory = memory
        var restoration = StateRestoration(
            limits: limits, kept: KeptMemory(limitedBy: configuration), at: time
        ) { Array(epoch.utf8) }
        try store.load { restoration.take($0) }
        try store.commit(restoration.start())
        self = restoration.finish()
    }
}

extension CommandTime {
    /// When the clocks of an embedded kernel begin.
    static var embeddedStart: CommandTime {
        let kernel = EmbeddedKernel()
        return CommandTime(
            wallMilliseconds: kernel.wallNow.milliseconds,
            monotonicNanoseconds: kernel.now.nanoseconds)
    }
}

extension Broker {
    /// A broker with a store whose commits a test triggers.
    static func durable(
        loopCount: Int = 1, _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> (Broker, HandStore) {
        let store = HandStore()
        return (try Broker(loopCount: loopCount, beginning: store.beginning(), adjust), store)
    }
}
