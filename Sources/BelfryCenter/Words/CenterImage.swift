/// The stored state of one center, with which a restarted center begins.
public struct CenterImage: Sendable, Equatable {
    /// The name, as it appears in URLs.
    public var name: [UInt8]
    /// The epoch, which distinguishes its sequence numbers from those of other lives.
    public var epoch: [UInt8]
    /// Sequence numbers up to this one may have been used.
    public var sequence: UInt64
    /// Whether the last life ended in order: then no losses are missing from the store.
    public var isComplete: Bool
    /// The clients, in the order of their numbers.
    public var clients: [ClientRecord] = []
    /// The observers, in the order of their numbers.
    public var observers: [ObserverRecord] = []
    /// The tombstones, in the order of the removals.
    public var tombstones: [(serial: UInt64, tombstone: Tombstone)] = []
    /// The held notifications, in the order of their sequence numbers.
    public var notifications: [NotificationRecord] = []
    /// The held entries, in the order of their sequence numbers, then of the observers.
    public var held: [(observer: UInt64, sequence: UInt64)] = []
    /// The held actions, by their sequence numbers, then by the observers that have the targets.
    public var actions: [ActionRecord] = []
    /// The losses that were not told yet, in the order of the observers.
    public var gaps: [(observer: UInt64, gap: GapRecord)] = []
    /// The queue entries, in the order of their places.
    public var queue: [QueueRecord] = []
    /// The timers, in the order of their identifiers.
    public var timers: [TimerRecord] = []
    /// The asks, in the order in which they were asked.
    public var asks: [AskRecord] = []
    /// The values, in the byte order of their objects.
    public var values: [ValueRecord] = []
    /// The idempotency keys, the oldest first.
    public var keys: [KeyRecord] = []
    /// The archives, in the order of their numbers.
    public var archives: [ArchiveRecord] = []
    /// The kinds of archives, in the order of their keys.
    public var archivedKinds: [ArchivedKindRecord] = []
    /// The kept notifications, in the order of their sequence numbers.
    public var kept: [KeptRecord] = []

    /// Makes the image of a center that has nothing yet.
    public init(name: [UInt8], epoch: [UInt8], sequence: UInt64 = 0, isComplete: Bool = true) {
        self.name = name
        self.epoch = epoch
        self.sequence = sequence
        self.isComplete = isComplete
    }

    /// Whether both images are the same.
    public static func == (left: CenterImage, right: CenterImage) -> Bool {
        left.name == right.name && left.epoch == right.epoch && left.sequence == right.sequence
            && left.isComplete == right.isComplete && left.clients == right.clients
            && left.observers == right.observers
            && left.tombstones.elementsEqual(right.tombstones, by: { $0 == $1 })
            && left.notifications == right.notifications
            && left.held.elementsEqual(right.held, by: { $0 == $1 })
            && left.actions == right.actions
            && left.gaps.elementsEqual(right.gaps, by: { $0 == $1 })
            && left.queue == right.queue && left.timers == right.timers
            && left.asks == right.asks && left.values == right.values && left.keys == right.keys
            && left.archives == right.archives && left.archivedKinds == right.archivedKinds
            && left.kept == right.kept
    }
}
