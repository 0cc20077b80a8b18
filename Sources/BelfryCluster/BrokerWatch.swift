import BelfryCenter

/// The beats of the brokers: when this one beats, and how long each other one has been silent.
struct BrokerWatch {
    /// When the broker last heard the engine, or another broker.
    private var contactAt: Int64
    private var checkedAt: Int64
    private var beatAt: Int64
    /// The time since which this broker could hear the others: silence before does not count.
    private var hearsSince: Int64
    /// When each other broker was last heard.
    private var heardAt: [[UInt8]: Int64] = [:]
    /// When this broker last asked for the end of another one's life.
    private var endAskedAt: [[UInt8]: Int64] = [:]

    init(at now: Int64) {
        contactAt = now
        checkedAt = now
        beatAt = now
        hearsSince = now
    }

    // MARK: This broker

    /// Records that the engine, or another broker, was heard.
    mutating func recordContact(at now: Int64) { contactAt = now }

    /// Discounts all silence so far: this broker could not hear the others.
    mutating func listenAnew(at now: Int64) { hearsSince = now }

    /// Detects a standstill of this broker, which heard no beats meanwhile, even if there were any.
    mutating func check(at now: Int64) {
        if now - checkedAt > ClusterOptions.standstill { listenAnew(at: now) }
        checkedAt = now
    }

    /// Makes the next beat due, as those on a lost connection may be lost.
    mutating func hastenBeat(at now: Int64) { beatAt = now - ClusterOptions.beatInterval }

    /// Records a beat where one is due.
    ///
    /// - Returns: whether it must be sent.
    mutating func beginBeat(at now: Int64) -> Bool {
        guard now - beatAt >= ClusterOptions.beatInterval else { return false }
        beatAt = now
        return true
    }

    /// The time without a word of the engine or of another broker.
    func timeWithoutContact(at now: Int64) -> Int64 { now - contactAt }

    // MARK: The others

    /// Records that another broker was heard, by its beat or by the begin of its life.
    mutating func hear(_ node: [UInt8], at now: Int64) { heardAt[node] = now }

    /// The brokers that were silent for too long and whose end must be asked for now.
    ///
    /// The rank of this broker delays its request, so that only the first one asks.
    mutating func claimSilent(
        in shard: borrowing Shard, _ options: ClusterOptions, rank: Int, at now: Int64
    ) -> [(name: [UInt8], life: UInt64)] {
        // A broker that hears no beats cannot say who is silent.
        guard timeWithoutContact(at: now) <= ClusterOptions.beatInterval else { return [] }
        var silent: [(name: [UInt8], life: UInt64)] = []
        for broker in shard.brokers where broker.isUp && broker.name != options.node {
            let silence = now - max(heardAt[broker.name] ?? hearsSince, hearsSince)
            guard silence >= options.downAfter + Int64(rank) * ClusterOptions.rankInterval,
                now - (endAskedAt[broker.name] ?? .min / 2) >= ClusterOptions.askInterval
            else { continue }
            endAskedAt[broker.name] = now
            silent.append((broker.name, broker.life))
        }
        return silent
    }
}
