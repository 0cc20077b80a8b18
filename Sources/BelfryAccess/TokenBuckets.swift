/// The limit for requests of one key over time.
public struct RateLimit: Equatable, Sendable {
    /// Requests a second, from 1 to 1,000,000.
    public let rate: Int
    /// How many may come at once after a rest, from 1 to 10,000,000.
    public let burst: Int

    /// The largest rate.
    public static let greatestRate = 1_000_000
    /// The largest burst.
    public static let greatestBurst = 10_000_000

    /// Joins both; nil where one of them is out of its range.
    public init?(rate: Int, burst: Int) {
        guard (1...Self.greatestRate).contains(rate), (1...Self.greatestBurst).contains(burst)
        else { return nil }
        self.rate = rate
        self.burst = burst
    }

    /// The nanoseconds in which one request's room comes back.
    var interval: Int64 { 1_000_000_000 / Int64(rate) }

    /// The seconds in which a whole burst's room comes back, rounded up.
    public var windowSeconds: Int { (burst + rate - 1) / rate }
}

/// One bucket of tokens for each key: a request takes one out, and time puts them back.
///
/// A bucket is one number: the time at which it will be full again (the virtual scheduling form of
/// the generic cell rate algorithm, ITU-T I.371). A full bucket is as good as none, so the table
/// may forget those; past its limit it forgets the one that was used longest ago. Swift's
/// dictionary finds the keys; its seed differs in each process, so that a client cannot make them
/// collide.
public struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    /// The outcome of a request.
    public enum Verdict: Equatable, Sendable {
        /// The bucket had room.
        case taken
        /// The bucket had no room; it has room for one again after these nanoseconds.
        case refused(waitNanoseconds: Int64)
    }

    /// How many keys are remembered; the default is 65,536.
    public let bucketLimit: Int
    /// The limit of each key.
    public var limit: RateLimit

    private var places: [Key: Int] = [:]
    private var buckets: [Bucket] = []
    /// The bucket that was used last, and the one that was used longest ago.
    private var newest = -1
    private var oldest = -1

    private struct Bucket {
        var key: Key
        var fullAt: Int64
        var newer = -1
        var older = -1
    }

    /// Makes buckets that are all full.
    public init(_ limit: RateLimit, bucketLimit: Int = 65_536) {
        precondition(bucketLimit >= 1, "a table of no buckets")
        self.limit = limit
        self.bucketLimit = bucketLimit
    }

    /// How many keys are remembered now.
    public var count: Int { buckets.count }

    /// Takes tokens out of the bucket of a key, if there is one at least.
    ///
    /// A key that takes more tokens than there are is in debt and waits for longer. The size of a
    /// batch is known only when it was read, so it may pass the limit once, and the rate still
    /// holds.
    ///
    /// - Parameters:
    ///   - count: how many, 1 or more.
    ///   - now: on a monotonic clock in nanoseconds.
    public mutating func take(_ count: Int, of key: Key, at now: Int64) -> Verdict {
        let place = use(key, at: now)
        let interval = limit.interval
        let full = max(buckets[place].fullAt, now)
        let wait = full - now + interval - interval * Int64(limit.burst)
        guard wait <= 0 else { return .refused(waitNanoseconds: wait) }
        buckets[place].fullAt = full + interval * Int64(count)
        return .taken
    }

    /// Takes tokens for a request that was already let in, even if too few are there.
    public mutating func charge(_ count: Int, of key: Key, at now: Int64) {
        let place = use(key, at: now)
        buckets[place].fullAt = max(buckets[place].fullAt, now) + limit.interval * Int64(count)
    }

    /// How many tokens the bucket of a key has.
    public func tokens(of key: Key, at now: Int64) -> Int {
        guard let place = places[key] else { return limit.burst }
        let missing = max(0, buckets[place].fullAt - now)
        return max(0, limit.burst - Int((missing + limit.interval - 1) / limit.interval))
    }

    /// The place of a key's bucket, which is the newest now.
    private mutating func use(_ key: Key, at now: Int64) -> Int {
        if let place = places[key] {
            if place != newest {
                unlink(place)
                link(place)
            }
            return place
        }
        let place: Int
        if buckets.count < bucketLimit, oldest < 0 || buckets[oldest].fullAt > now {
            place = buckets.count
            buckets.append(Bucket(key: key, fullAt: now))
        } else {
            // The oldest is full and as good as none, or must go.
            place = oldest
            unlink(place)
            places[buckets[place].key] = nil
            buckets[place] = Bucket(key: key, fullAt: now)
        }
        places[key] = place
        link(place)
        return place
    }

    private mutating func link(_ place: Int) {
        buckets[place].older = newest
        buckets[place].newer = -1
        if newest >= 0 { buckets[newest].newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let (older, newer) = (buckets[place].older, buckets[place].newer)
        if older >= 0 { buckets[older].newer = newer } else { oldest = newer }
        if newer >= 0 { buckets[newer].older = older } else { newest = older }
    }
}
