import BelfryCenter
import BelfrySystem
import Testing

@testable import BelfryStore

@Suite("StoreBatch in pieces (decision 67)")
struct PiecesTests {
    static let name = Sample.bytes("default")

    static func batch(_ changes: [Change]) -> StoreBatch {
        StoreBatch(loop: 0, ticket: 7, changes: [.center(name: name, changes: changes)])
    }

    static func removed(_ serial: UInt64) -> Change {
        .observerRemoved(serial: serial, Sample.tombstone(serial))
    }

    /// How many changes the pieces have, cut wherever that goes.
    static func cut(_ changes: [Change]) -> [Int] {
        let pieces = batch(changes).pieces(weightLimit: 0)
        #expect(pieces.map(\.endsTurn) == pieces.indices.map { $0 == pieces.count - 1 })
        #expect(pieces.allSatisfy { $0.ticket == 7 })
        var joined: [Change] = []
        for piece in pieces {
            for case .center(let name, let some) in piece.changes {
                #expect(name == self.name)
                joined += some
            }
        }
        #expect(joined == changes)
        return pieces.map(\.changeCount)
    }

    @Test("a batch that is light enough stays whole, and past the limit it is cut")
    func limit() {
        let batch = Self.batch((1...20).map { Self.removed($0) })
        #expect(batch.pieces(weightLimit: batch.weight).count == 1)
        let pieces = batch.pieces(weightLimit: batch.weight - 1)
        #expect(pieces.map(\.changeCount).reduce(0, +) == 20)
        #expect(pieces.count == 2)
        #expect(pieces.allSatisfy { $0.weight < batch.weight })
    }

    @Test(
        "it is cut between observers, timers, asks, keys, acknowledged notifications and dequeued entries"
    )
    func cuts() {
        #expect(Self.cut([Self.removed(1), Self.removed(2), Self.removed(3)]) == [1, 1, 1])
        let key = Change.keyForgotten(principal: [1], text: [2])
        #expect(Self.cut([key, key]) == [1, 1])
        let timer = Change.timerEnded(Sample.id(1))
        #expect(Self.cut([timer, timer]) == [1, 1])
        // A replaced row does not go without its replacement, nor a due one without its entry.
        #expect(Self.cut([timer, timer, .timer(Sample.timer(1))]) == [3])
        #expect(Self.cut([timer, .queued(Sample.entry(1)), timer]) == [3])
        let ask = Change.askForgotten(Sample.id(1))
        #expect(Self.cut([ask, ask]) == [1, 1])
        #expect(Self.cut([.ask(Sample.ask(1)), ask, key]) == [3])
        let pair: [Change] = [
            .released(observer: 1, sequence: 1), .notificationReleased(sequence: 1),
        ]
        let look = Change.observer(Sample.observer(1))
        #expect(Self.cut(pair + pair + [look]) == [2, 3])
        #expect(Self.cut([.dequeued(Sample.id(1)), .dequeued(Sample.id(2))]) == [1, 1])
    }

    @Test("what an observer held is not cut from the removal of the observer")
    func heldOfRemoved() {
        let pair: [Change] = [
            .released(observer: 1, sequence: 1), .notificationReleased(sequence: 1),
        ]
        #expect(Self.cut(pair + pair + [Self.removed(1)] + pair + [Self.removed(2)]) == [5, 3])
    }

    @Test("entries are not cut from what takes their place, nor anything else")
    func whole() {
        let entries: [Change] = [.dequeued(Sample.id(1)), .dequeued(Sample.id(2))]
        let notification = Change.notification(Sample.notification(1))
        #expect(Self.cut(entries + [notification]) == [3])
        let held = Change.held(observer: 1, sequence: 1)
        #expect(Self.cut([notification, held, held]) == [3])
        #expect(Self.cut([Self.removed(1), .clientRemoved(1), Self.removed(2)]) == [3])
    }

    @Test("transactions are no heavier than the ballast has room for, and the turn is told once")
    func transactions() {
        let script = ScriptedStore.Script()
        var worker = StoreWorker(ScriptedStore(script: script), limits: StoreLimits())
        let limit = worker.work(at: MonotonicTime(nanoseconds: 0)).weightLimit
        let bulk = Self.batch((1...500).map { Self.removed($0) })
        #expect(bulk.weight > 3 * limit)
        let post = StoreBatch(
            loop: 1, ticket: 1,
            changes: [.center(name: Self.name, .notification(Sample.notification(1)))])
        worker.add([bulk, post])
        script.calls = []
        let progress = worker.work(at: MonotonicTime(nanoseconds: 1))
        #expect(progress.committed.filter(\.endsTurn).map(\.ticket) == [7, 1])
        #expect(script.calls.filter { $0 == "commit" }.count == script.committed.count)
        #expect(script.committed.count == (bulk.weight + limit - 1) / limit)
        for changes in script.committed {
            #expect(changes.reduce(0) { $0 + $1.weight } <= limit)
        }
        #expect(script.committed.joined().reduce(0) { $0 + $1.count } == 501)
        #expect(progress.weightLimit == limit)
    }

    @Test("ten thousand removals refuse nobody: the main file hardly grows by them")
    func promises() {
        var progress = StoreWorker<StoreFile>.Progress()
        progress.weightLimit = (32 << 20) / 3 - StoreWorker<StoreFile>.reserveByteCount
        var mail = StoreMail(progress)
        mail.add(Self.batch((1...10_000).map { Self.removed($0) }))
        #expect(mail.acceptsPromises)
        mail.add(
            Self.batch(
                (1...10_000).flatMap {
                    [.released(observer: 1, sequence: $0), .notificationReleased(sequence: $0)]
                }))
        #expect(mail.acceptsPromises)
        mail.add(
            Self.batch((1...5).map { .notification(Sample.notification($0, byteCount: 3 << 20)) }))
        #expect(!mail.acceptsPromises)
    }
}
