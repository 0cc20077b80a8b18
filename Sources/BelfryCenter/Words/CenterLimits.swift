/// The limits that one center keeps (Protocol.md section 11).
public struct CenterLimits: Sendable, Equatable {
    /// Observers of one client; the default is 10,000.
    public var clientObserverLimit = 10_000
    /// Distinct prefixes that observers have; the default is 10,000.
    public var prefixLimit = 10_000
    /// Distinct conditions that observers have; the default is 10,000.
    public var conditionLimit = 10_000
    /// Notifications in the replay ring; the default is 1,000.
    public var replayCountLimit = 1_000
    /// Bytes of name, object and userInfo in the replay ring; the default is 4 MiB.
    public var replayByteLimit = 4 << 20
    /// Archives; the default is 1,000.
    public var archiveLimit = 1_000
    /// Bytes that all archives may keep; the default is 256 MiB.
    public var archiveByteLimit = 256 << 20
    /// The archives of the configuration file, which each center has.
    public var archives: [ConfiguredArchive] = []
    /// Removed observers that are remembered; the default is 100,000.
    public var tombstoneLimit = 100_000
    /// Posts whose fate is remembered; the default is 100,000.
    public var fateLimit = 100_000
    /// How long a fate is remembered; the default is 5 minutes.
    public var fateLifetime: Duration = .seconds(300)
    /// How long the fate of a stored ask is remembered; the default is 24 hours.
    ///
    /// In a log it is as long as that of others.
    public var askFateLifetime: Duration = .seconds(86_400)
    /// Names without an observer that are remembered; the default is 10,000.
    public var unobservedNameLimit = 10_000
    /// The longest chain of `causedBy` (rule C12); the default is 32.
    public var causedByDepthLimit = 32
    /// Queue entries; the default is 10,000.
    public var queueEntryLimit = 10_000
    /// Timers; the default is 100,000.
    public var timerLimit = 100_000
    /// Farewells (`onDisconnect`) of one client; the default is 16.
    public var farewellLimit = 16
    /// Mode leases on the stack; the default is 32.
    public var modeStackLimit = 32
    /// Modes that the entries of the queue name, in all; the default is 1,000.
    public var queueModeLimit = 1_000
    /// The modes that `common` stands for (rule Q17); the default is `default`.
    public var commonModes: [[UInt8]] = [Mode.default]
    /// Notifications held for one client; the default is 10,000.
    public var clientHeldCountLimit = 10_000
    /// Notifications held for one client; the default is 10,000.
    public var clientHeldByteLimit = 16 << 20
    /// How many acknowledgements an observer may owe before its client counts as slow.
    public var unacknowledgedLimit = 1_000
    /// After how many missed deadlines in a row posters no longer wait for an observer.
    public var missedDeadlineLimit = 3
    /// How many bytes of held notifications one step of a flush writes; the default is 256 KiB.
    public var flushByteLimit = 256 << 10
    /// Idempotency keys that are remembered; the default is 100,000.
    public var keyLimit = 100_000
    /// Bytes of the answers that are remembered by key, about; the default is 32 MiB.
    public var keyByteLimit = 32 << 20
    /// How long an idempotency key is remembered; the default is 5 minutes.
    public var keyLifetime: Duration = .seconds(300)
    /// Open asks; the default is 10,000.
    public var askLimit = 10_000
    /// Open asks of an asking client or principal; the default is 1,000.
    public var clientAskLimit = 1_000
    /// Observers that hold one address; the default is 1,000.
    public var holderLimit = 1_000
    /// How many addresses one ask is handed on to; the default is 32.
    public var hopLimit = 32
    /// Holders that the actions of one notification examine, some 5 ms of work.
    ///
    /// Past the limit the actions are unhandled (rule K4). A hop counts three, and each holder that
    /// implements the selector counts one. The default is 50,000.
    public var actionLookLimit = 50_000
    /// Bytes of the answers that fates keep; the default is 32 MiB.
    public var answerMemoryLimit = 32 << 20
    /// Values of objects; the default is 100,000.
    public var valueLimit = 100_000
    /// Canonical bytes of one value; the default is 256 KiB.
    public var documentByteLimit = 256 << 10
    /// How deep one value nests; the default is 16.
    public var documentDepthLimit = 16
    /// Parts with a `ttl` or a `lease` of one value; the default is 1,000.
    public var valuePartLimit = 1_000
    /// Entries of values that end with a client; the default is 1,000.
    public var clientPartLimit = 1_000
    /// Whether the center reports changes to store; the default is for a broker without a store.
    public var isDurable = false
    /// How long an observer is disconnected before it is listed as a leak; the default is 1 h.
    public var orphanAfter: Duration = .seconds(3600)

    /// Makes limits with the defaults.
    public init() {}
}

extension CenterLimits {
    /// The same limits as a log has them: it keeps all fates for as long.
    public var ofLog: CenterLimits {
        var limits = self
        limits.askFateLifetime = fateLifetime
        return limits
    }
}
