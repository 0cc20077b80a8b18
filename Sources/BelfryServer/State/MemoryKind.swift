import BelfryCenter

/// A kind of thing that takes memory: each has a limit over all loops, centers and connections.
public enum MemoryKind: String, Sendable, CaseIterable {
    /// Open connections, with their sessions of TLS.
    case connections
    /// Handshakes, requests and messages that have not fully arrived.
    case unfinished
    /// Output that waits for full sockets.
    case unsent
    /// Centers, whatever they keep.
    case centers
    /// Kinds that centers keep; ``KeptKind`` describes each.
    case observers, channels, replay, keys, fates, tombstones, held, queue, archives

    /// The memory of an empty center: itself, and its tables at their smallest.
    static let centerByteCount = 3 << 10

    /// Maps a kind that a center keeps.
    init(_ kind: KeptKind) {
        self =
            switch kind {
            case .observers: .observers
            case .channels: .channels
            case .replay: .replay
            case .keys: .keys
            case .fates: .fates
            case .tombstones: .tombstones
            case .held: .held
            case .queue: .queue
            case .archives: .archives
            }
    }

    /// The option that sets the limit.
    public var option: String {
        switch self {
        case .connections: "connection-memory"
        case .unfinished: "unfinished-limit"
        case .unsent: "unsent-limit"
        case .observers: "observer-memory"
        case .channels: "channel-memory"
        case .centers: "center-memory"
        case .replay: "replay-memory"
        case .keys: "key-memory"
        case .fates: "fate-memory"
        case .tombstones: "tombstone-memory"
        case .held: "hold-memory"
        case .queue: "queue-memory"
        case .archives: "archive-memory"
        }
    }

    /// The place of the limit in a configuration.
    public var limit: WritableKeyPath<ServerConfiguration, Int> {
        switch self {
        case .connections: \.memory.connections
        case .unfinished: \.unfinishedByteLimit
        case .unsent: \.unsentByteLimit
        case .observers: \.memory.observers
        case .channels: \.memory.channels
        case .centers: \.memory.centers
        case .replay: \.memory.replay
        case .keys: \.memory.keys
        case .fates: \.memory.fates
        case .tombstones: \.memory.tombstones
        case .held: \.memory.held
        case .queue: \.memory.queue
        case .archives: \.memory.archives
        }
    }

    /// The most bytes for the kind where the process may have `memoryByteCount` (decision 72).
    ///
    /// Kinds that live as long as a connection have thousandths of the memory, 219 together. Kinds
    /// that outlive it have thousandths of a quarter less the program itself: so the process is
    /// back below that quarter when all connections have gone. The rest is for tables that are
    /// copied as they grow, for what the allocator cannot give back, and for uncommitted changes
    /// (10 MiB at most, as the store's ballast allows).
    func part(of memoryByteCount: Int) -> Int {
        let byteCount = max(0, memoryByteCount)
        let remaining = max(0, byteCount / 4 - Self.programByteCount)
        return switch self {
        case .connections: byteCount / 1_000 * 125
        case .unsent: byteCount / 1_000 * 62
        case .unfinished: byteCount / 1_000 * 32
        case .observers: remaining / 1_000 * 310
        case .held: remaining / 1_000 * 130
        case .replay, .queue: remaining / 1_000 * 100
        case .archives, .channels, .centers, .keys, .fates, .tombstones:
            remaining / 1_000 * 60
        }
    }

    /// The memory of a broker that keeps nothing: its program, the libraries, and their data.
    static let programByteCount = 24 << 20
}

/// The limits of kinds of memory that have no other limit in bytes, each over the whole broker.
public struct MemoryLimits: Sendable, Equatable {
    /// Open connections, with their sessions of TLS; the default is 1 GiB.
    public var connections = 1 << 30
    /// Observers and their clients, with objects and selectors; the default is 1 GiB.
    public var observers = 1 << 30
    /// Names with their counts; the default is 256 MiB.
    public var channels = 256 << 20
    /// Centers, whatever they keep; the default is 64 MiB.
    public var centers = 64 << 20
    /// The replay rings; the default is 256 MiB.
    public var replay = 256 << 20
    /// Answers to requests with an idempotency key; the default is 128 MiB.
    public var keys = 128 << 20
    /// The fates of recent posts; the default is 128 MiB.
    public var fates = 128 << 20
    /// The tombstones of removed observers; the default is 128 MiB.
    public var tombstones = 128 << 20
    /// Notifications that are held, with their indexes; the default is 512 MiB.
    public var held = 512 << 20
    /// The queues with their indexes, open asks, timers and values; the default is 640 MiB.
    public var queue = 640 << 20
    /// Archives with their indexes; the default is 512 MiB.
    public var archives = 512 << 20

    /// Takes the defaults.
    public init() {}
}
