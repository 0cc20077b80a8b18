import BelfryCenter
import BelfrySystem

/// The secrets that the broker gives its centers.
struct CenterSecrets: Sendable {
    /// The seed of this process for its hash tables.
    let hashSeed: HashSeed
    /// The key of the store for the tags of values; a log has its own.
    ///
    /// Without a store it lives as long as the process.
    var tagKey: TagKey

    /// Makes new secrets.
    init() {
        var random = SystemRandom()
        hashSeed = HashSeed(random.next(), random.next())
        tagKey = TagKey(high: random.next(), low: random.next())
    }

    /// A shard without a center.
    func shard(_ limits: CenterLimits, hasLog: Bool) -> Shard {
        var shard = Shard(limits: limits, seed: hashSeed)
        if !hasLog { shard.tagKey = tagKey }
        return shard
    }
}
