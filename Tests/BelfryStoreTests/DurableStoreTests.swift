import BelfryCenter
import Testing

@testable import BelfryStore

/// The tests of both stores; `StoreFileTests` has those of a file.
@Suite("DurableStore, in memory and as a file")
struct DurableStoreTests {
    static let name = Sample.bytes("default")
    static let record = CenterRecord(epoch: [1, 2, 3])

    /// Some changes of a center, and what they amount to.
    struct Scenario: CustomTestStringConvertible {
        let testDescription: String
        let changes: [Change]
        let expected: @Sendable (inout CenterImage) -> Void
    }

    static let scenarios: [Scenario] = [
        Scenario(testDescription: "a center alone", changes: []) { _ in },
        Scenario(
            testDescription: "an epoch that is renewed",
            changes: [.center(CenterRecord(epoch: [9]))]
        ) { $0.epoch = [9] },
        Scenario(
            testDescription: "a reservation never goes back",
            changes: [.sequenceReserved(through: 900), .sequenceReserved(through: 800)]
        ) { $0.sequence = 900 },
        Scenario(
            testDescription: "clients, one of them changed",
            changes: [
                .client(Sample.client(9)), .client(Sample.client(1)), .client(Sample.client(2)),
                .client(Sample.client(9, disconnectedFor: 4)),
            ]
        ) {
            $0.clients = [
                Sample.client(1), Sample.client(2), Sample.client(9, disconnectedFor: 4),
            ]
        },
        Scenario(
            testDescription: "observers of each behaviour, one of them changed",
            changes: [.client(Sample.client(1))] + (1...8).map { .observer(Sample.observer($0)) }
                + [.observer(Sample.observer(3, acknowledgedThrough: 70))]
        ) {
            $0.clients = [Sample.client(1)]
            $0.observers = (1...8).map { Sample.observer($0) }
            $0.observers[2] = Sample.observer(3, acknowledgedThrough: 70)
        },
        Scenario(
            testDescription: "tombstones of each remover, in the order of the removals",
            changes: [5, 2, 3, 4].map { .observer(Sample.observer($0)) }
                + [5, 2, 3, 4].map { .observerRemoved(serial: $0, Sample.tombstone($0)) }
        ) { $0.tombstones = [5, 2, 3, 4].map { ($0, Sample.tombstone($0)) } },
        Scenario(
            testDescription: "held notifications",
            changes: [4, 1].map { .observer(Sample.observer($0)) } + [
                .notification(Sample.notification(6)), .held(observer: 4, sequence: 6),
                .notification(Sample.notification(5, byteCount: 9_000)),
                .held(observer: 4, sequence: 5), .held(observer: 1, sequence: 6),
                .held(observer: 1, sequence: 5), .released(observer: 4, sequence: 5),
            ]
        ) {
            $0.observers = [Sample.observer(1), Sample.observer(4)]
            $0.notifications = [
                Sample.notification(5, byteCount: 9_000), Sample.notification(6),
            ]
            $0.held = [(1, 5), (1, 6), (4, 6)]
        },
        Scenario(
            testDescription: "a notification that nobody holds any more",
            changes: [
                .observer(Sample.observer(1)), .notification(Sample.notification(5)),
                .held(observer: 1, sequence: 5), .notification(Sample.notification(6)),
                .held(observer: 1, sequence: 6), .notificationReleased(sequence: 5),
            ]
        ) {
            $0.observers = [Sample.observer(1)]
            $0.notifications = [Sample.notification(6)]
            $0.held = [(1, 6)]
        },
        Scenario(
            testDescription: "what an observer held goes with it",
            changes: [.observer(Sample.observer(1)), .observer(Sample.observer(2))] + [
                .notification(Sample.notification(5)), .held(observer: 1, sequence: 5),
                .held(observer: 2, sequence: 5),
                .gap(observer: 1, GapRecord(reason: .expired, count: 1, first: 2, last: 3)),
                .observerRemoved(serial: 1, Sample.tombstone(1)),
            ]
        ) {
            $0.observers = [Sample.observer(2)]
            $0.tombstones = [(1, Sample.tombstone(1))]
            $0.notifications = [Sample.notification(5)]
            $0.held = [(2, 5)]
        },
        Scenario(
            testDescription: "a client goes with its observers and what they held and lost",
            changes: [
                .client(Sample.client(7)), .client(Sample.client(8)),
                .observer(Sample.observer(1, client: 7)), .observer(Sample.observer(2, client: 8)),
                .notification(Sample.notification(5)), .held(observer: 1, sequence: 5),
                .held(observer: 2, sequence: 5),
                .gap(observer: 1, GapRecord(reason: .dropped, count: 1, first: 2, last: 3)),
                .clientRemoved(7),
            ]
        ) {
            $0.clients = [Sample.client(8)]
            $0.observers = [Sample.observer(2, client: 8)]
            $0.notifications = [Sample.notification(5)]
            $0.held = [(2, 5)]
        },
        Scenario(
            testDescription: "gaps of each reason; a count of zero forgets one",
            changes: [.observer(Sample.observer(1)), .observer(Sample.observer(2))]
                + Gap.Reason.allCases.map {
                    .gap(observer: 2, GapRecord(reason: $0, count: 3, first: 1, last: 9))
                } + [
                    .gap(observer: 1, GapRecord(reason: .unknown, count: nil, first: 1, last: 2)),
                    .gap(observer: 2, GapRecord(reason: .expired, count: 0, first: 0, last: 0)),
                    .gap(observer: 2, GapRecord(reason: .dropped, count: 4, first: 1, last: 10)),
                ]
        ) {
            $0.observers = [Sample.observer(1), Sample.observer(2)]
            $0.gaps = [
                (1, GapRecord(reason: .unknown, count: nil, first: 1, last: 2)),
                (2, GapRecord(reason: .dropped, count: 4, first: 1, last: 10)),
                (2, GapRecord(reason: .coalesced, count: 3, first: 1, last: 9)),
                (2, GapRecord(reason: .overflow, count: 3, first: 1, last: 9)),
                (2, GapRecord(reason: .unknown, count: 3, first: 1, last: 9)),
            ]
        },
        Scenario(
            testDescription: "queue entries of each style, in the order of their places",
            changes: (1...6).map { .queued(Sample.entry($0, place: 100 - $0)) }
                + [.queued(Sample.entry(3, place: 97, merged: 5)), .dequeued(Sample.id(5))]
        ) {
            $0.queue = [
                Sample.entry(6, place: 94), Sample.entry(4, place: 96),
                Sample.entry(3, place: 97, merged: 5), Sample.entry(2, place: 98),
                Sample.entry(1, place: 99),
            ]
        },
        Scenario(
            testDescription: "observers that respond, one of them no more",
            changes: (1...12).map { .observer(Sample.observer($0)) }
                + [.observer(Sample.observer(5, version: 3))]
        ) {
            $0.observers = (1...12).map { Sample.observer($0, version: $0 == 5 ? 3 : .max) }
        },
        Scenario(
            testDescription:
                "asks, open and ended in each way, in the order in which they were asked",
            changes: (1...UInt64(12)).map { .ask(Sample.ask(30 - $0)) } + [
                .ask(Sample.ask(25, shown: [4, .max, 1])), .askForgotten(Sample.id(18)),
                .askForgotten(Sample.id(17)),
            ] + (19...UInt64(28)).map { .ask(Sample.ask($0, shown: [2], isOpen: false)) }
        ) {
            $0.asks =
                [Sample.ask(29)]
                + (19...UInt64(28)).reversed().map { Sample.ask($0, shown: [2], isOpen: false) }
        },
        Scenario(
            testDescription: "values, the last state of each, in the byte order of their objects",
            changes: (1...UInt64(12)).map { .value(Sample.value(21 - $0, changed: $0)) } + [
                .value(Sample.value(15, changed: 30, byteCount: 5_000)),
                .valueRemoved(object: Sample.bytes("object 12")),
                .valueRemoved(object: Sample.bytes("object 99")),
            ]
        ) {
            $0.values = (9...UInt64(20)).filter { $0 != 12 }.map {
                $0 == 15
                    ? Sample.value(15, changed: 30, byteCount: 5_000)
                    : Sample.value($0, changed: 21 - $0)
            }.sorted { $0.object.lexicographicallyPrecedes($1.object) }
        },
        Scenario(
            testDescription: "keys of asks, whose outcome changes",
            changes: (1...Sample.outcomeCount).map { .key(Sample.key($0, hasAsk: true)) } + [
                .key(Sample.key(3)), .key(Sample.key(13, hasAsk: true)),
            ]
        ) {
            $0.keys = (1...Sample.outcomeCount).map { Sample.key($0, hasAsk: $0 != 3) }
            $0.keys.append(Sample.key(13, hasAsk: true))
        },
        Scenario(
            testDescription: "keys; one whose answer changes keeps its place",
            changes: [5, 1, 3, 4].map { .key(Sample.key($0)) } + [
                .key(Sample.key(1, sequence: 77)),
                .keyForgotten(principal: Sample.bytes("p1"), text: Sample.bytes("key 3")),
                .keyForgotten(principal: Sample.bytes("p0"), text: Sample.bytes("key 5")),
            ]
        ) { $0.keys = [Sample.key(5), Sample.key(1, sequence: 77), Sample.key(4)] },
    ]

    @Test(
        "each change is there after a commit and after a restart", arguments: StoreKind.allCases,
        scenarios)
    func changes(_ kind: StoreKind, _ scenario: Scenario) throws {
        let store = try TestStore(kind)
        try store.commit(
            [.center(name: Self.name, .center(Self.record))]
                + scenario.changes.map { .center(name: Self.name, $0) })
        var expected = CenterImage(name: Self.name, epoch: Self.record.epoch)
        scenario.expected(&expected)
        #expect(try store.load().centers == [expected])
        try store.restart(inOrder: true)
        #expect(try store.load().centers == [expected])
    }

    @Test("a held notification loses the clock of its life", arguments: StoreKind.allCases)
    func clocks(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let sample = Sample.notification(5).notification
        let live = Notification(
            id: sample.id, sequence: 5, postedAt: sample.postedAt, causedBy: sample.causedBy,
            content: sample.content, expiresAt: 123, isRestored: false)
        try store.commit([
            .center(name: Self.name, .center(Self.record)),
            .center(
                name: Self.name,
                .notification(NotificationRecord(notification: live, timeToLive: 5))),
        ])
        #expect(try store.load().centers[0].notifications == [Sample.notification(5)])
    }

    @Test("a new store has nothing, and its first life is whole", arguments: StoreKind.allCases)
    func new(_ kind: StoreKind) throws {
        #expect(try TestStore(kind).load() == StoreImage())
    }

    @Test("a life that did not end in order is told to the next one", arguments: StoreKind.allCases)
    func ends(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        try store.commit([.center(name: Self.name, .center(Self.record))])
        for (incarnation, endsInOrder) in [true, false, false, true].enumerated() {
            try store.restart(inOrder: endsInOrder)
            let image = try store.load()
            #expect(image.incarnation == UInt64(incarnation) + 2)
            #expect(image.isComplete == endsInOrder)
            #expect(image.centers.map(\.isComplete) == [endsInOrder])
            #expect(!image.isCopied)
        }
    }

    @Test("numbers that are reserved never go back", arguments: StoreKind.allCases)
    func reservations(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        try store.commit([
            .observersReserved(through: 10), .clientsReserved(through: 20),
            .modesReserved(through: 30),
        ])
        try store.commit([
            .observersReserved(through: 11), .clientsReserved(through: 19),
            .modesReserved(through: 0),
        ])
        try store.restart(inOrder: false)
        let image = try store.load()
        #expect(image.observersReserved == 11)
        #expect(image.clientsReserved == 20)
        #expect(image.modesReserved == 30)
    }

    @Test("the oldest tombstones of all centers go first", arguments: StoreKind.allCases)
    func tombstones(_ kind: StoreKind) throws {
        var limits = StoreLimits()
        limits.tombstoneLimit = 3
        let store = try TestStore(kind, limits: limits)
        let names = [Self.name, Sample.bytes("other")]
        try store.commit(names.map { .center(name: $0, .center(Self.record)) })
        func serials() throws -> [[UInt64]] {
            try store.load().centers.map { $0.tombstones.map(\.serial) }
        }
        for serial: UInt64 in 1...5 {
            let removal = Change.observerRemoved(serial: serial, Sample.tombstone(serial))
            try store.commit([.center(name: names[Int(serial % 2)], removal)])
            if serial == 3 { #expect(try serials() == [[2], [1, 3]]) }
        }
        #expect(try serials() == [[4], [3, 5]])
    }

    @Test("a start reads the newest tombstones, as many as have room", arguments: [0, 1])
    func tombstoneBytes(missing: Int) throws {
        let names = [Self.name, Sample.bytes("other")]
        let stones = (1...5).map { (serial: UInt64($0), stone: Sample.tombstone(UInt64($0))) }
        var limits = StoreLimits()
        limits.tombstoneByteLimit =
            stones[2...].reduce(0) { $0 + $1.stone.loadedByteCount } - missing
        let store = try TestStore(.file, limits: limits)
        try store.commit(names.map { .center(name: $0, .center(Self.record)) })
        for (serial, stone) in stones {
            try store.commit([
                .center(name: names[Int(serial % 2)], .observerRemoved(serial: serial, stone))
            ])
        }
        let serials = try store.load().centers.map { $0.tombstones.map(\.serial) }
        #expect(serials == (missing == 0 ? [[4], [3, 5]] : [[4], [5]]))
    }

    @Test("both stores hold the same after any changes and restarts", arguments: 1...6)
    func twins(seed: UInt64) throws {
        var source = ChangeSource(seed: seed, endsCenters: true)
        var random = SeededGenerator(seed: ~seed)
        var limits = StoreLimits()
        limits.tombstoneLimit = 20
        let (memory, file) = (
            try TestStore(.memory, limits: limits), try TestStore(.file, limits: limits)
        )
        var hasHeldAndKeys = false
        var hasAsks = false
        for _ in 0..<40 {
            let changes = source.batch(random.below(40))
            try memory.commit(changes)
            try file.commit(changes)
            if random.below(5) == 0 {
                let endsInOrder = random.below(2) == 0
                try memory.restart(inOrder: endsInOrder)
                try file.restart(inOrder: endsInOrder)
            }
            let image = try file.load()
            #expect(try memory.load() == image)
            if image.centers.contains(where: { !$0.held.isEmpty && !$0.keys.isEmpty }) {
                hasHeldAndKeys = true
            }
            if image.centers.contains(where: { $0.asks.contains { $0.end != nil } }) {
                hasAsks = true
            }
        }
        #expect(hasHeldAndKeys && hasAsks)
    }

    @Test(
        "of a center that has ended nothing is left, for those after it neither",
        arguments: StoreKind.allCases)
    func ended(_ kind: StoreKind) throws {
        var limits = StoreLimits()
        limits.tombstoneLimit = 3
        let store = try TestStore(kind, limits: limits)
        let (first, last) = (Self.name, Sample.bytes("last"))
        func removal(_ serial: UInt64) -> Change {
            .observerRemoved(serial: serial, Sample.tombstone(serial))
        }
        func put(_ name: [UInt8], _ changes: [Change]) throws {
            try store.commit([
                .center(name: name, changes: [.center(CenterRecord(epoch: name))] + changes)
            ])
        }
        try put(first, [.sequenceReserved(through: 900)])
        try put(last, [.sequenceReserved(through: 800), removal(1), removal(2)])
        // One that the store does not have is none.
        try store.commit([.centerEnded(name: last), .centerEnded(name: Sample.bytes("none"))])
        try store.restart(inOrder: true)
        #expect(try store.load().centers.map(\.name) == [first])
        // The last one had the greatest number, which the next one must not get.
        try put(Sample.bytes("next"), [])
        try put(last, [removal(3)])
        try store.restart(inOrder: true)
        let centers = try store.load().centers
        #expect(centers.map(\.name) == [first, Sample.bytes("next"), last])
        #expect(centers.map(\.sequence) == [900, 0, 0])
        #expect(centers.map { $0.tombstones.map(\.serial) } == [[], [], [3]])
        // Tombstones of those that have ended go first, as they are the oldest.
        try put(last, [removal(4)])
        try put(first, [removal(5)])
        #expect(try store.load().centers.map { $0.tombstones.map(\.serial) } == [[5], [], [3, 4]])
    }
}
