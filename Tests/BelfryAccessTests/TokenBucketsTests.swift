import BelfryAccess
import Testing

@Suite("TokenBuckets")
struct TokenBucketsTests {
    private static let second: Int64 = 1_000_000_000

    private func buckets(
        rate: Int, burst: Int, bucketLimit: Int = 65_536
    ) throws -> TokenBuckets<String> {
        TokenBuckets(try #require(RateLimit(rate: rate, burst: burst)), bucketLimit: bucketLimit)
    }

    @Test("a burst is let in, one past it refused, and each token comes back in its time")
    func burst() throws {
        var buckets = try buckets(rate: 10, burst: 3)
        for _ in 0..<3 { #expect(buckets.take(1, of: "a", at: 0) == .taken) }
        #expect(buckets.tokens(of: "a", at: 0) == 0)
        #expect(buckets.take(1, of: "a", at: 0) == .refused(waitNanoseconds: Self.second / 10))
        #expect(buckets.take(1, of: "a", at: Self.second / 10 - 1) == .refused(waitNanoseconds: 1))
        #expect(buckets.take(1, of: "a", at: Self.second / 10) == .taken)
        #expect(buckets.take(1, of: "a", at: Self.second / 10) != .taken)
    }

    @Test("a refusal costs nothing, so asking again and again does not make it longer")
    func refusalIsFree() throws {
        var buckets = try buckets(rate: 1, burst: 1)
        #expect(buckets.take(1, of: "a", at: 0) == .taken)
        for _ in 0..<100 { #expect(buckets.take(1, of: "a", at: 5) != .taken) }
        #expect(buckets.take(1, of: "a", at: Self.second) == .taken)
    }

    @Test("a bucket never has more than its burst, however long the rest")
    func rest() throws {
        var buckets = try buckets(rate: 1_000, burst: 2)
        #expect(buckets.take(1, of: "a", at: 0) == .taken)
        let late = 3_600 * Self.second
        #expect(buckets.tokens(of: "a", at: late) == 2)
        #expect(buckets.take(1, of: "a", at: late) == .taken)
        #expect(buckets.take(1, of: "a", at: late) == .taken)
        #expect(buckets.take(1, of: "a", at: late) != .taken)
    }

    @Test("a batch is let in with one token, and its debt keeps the rate")
    func debt() throws {
        var buckets = try buckets(rate: 10, burst: 5)
        #expect(buckets.take(100, of: "a", at: 0) == .taken)
        #expect(
            buckets.take(1, of: "a", at: 0) == .refused(waitNanoseconds: 96 * Self.second / 10))
        #expect(buckets.take(1, of: "a", at: 96 * Self.second / 10) == .taken)
        buckets.charge(7, of: "b", at: 0)
        #expect(buckets.take(1, of: "b", at: 3 * Self.second / 10 - 1) != .taken)
        #expect(buckets.take(1, of: "b", at: 3 * Self.second / 10) == .taken)
    }

    @Test("keys do not share a bucket")
    func keys() throws {
        var buckets = try buckets(rate: 1, burst: 1)
        #expect(buckets.take(1, of: "a", at: 0) == .taken)
        #expect(buckets.take(1, of: "b", at: 0) == .taken)
        #expect(buckets.take(1, of: "a", at: 0) != .taken)
    }

    @Test("over any time no more than burst and rate are let in")
    func longRun() throws {
        for (rate, burst) in [(7, 1), (100, 10), (1, 50), (999_999, 3)] {
            var buckets = try buckets(rate: rate, burst: burst)
            var count = 0
            let step = Self.second / Int64(rate) / 3 + 1
            for turn in 0..<3_000 as Range<Int64>
            where buckets.take(1, of: "a", at: turn * step) == .taken {
                count += 1
            }
            let elapsed = Double(2_999 * step) / Double(Self.second)
            let expected = Double(burst) + elapsed * Double(rate)
            #expect(Double(count) <= expected + 1)
            #expect(Double(count) >= min(3_000, expected) - 2)
        }
    }

    @Test(
        "the table is bounded: the key that was used longest ago is forgotten, at the limit and past it"
    )
    func bounded() throws {
        var buckets = try buckets(rate: 1, burst: 1, bucketLimit: 3)
        for key in ["a", "b", "c"] { #expect(buckets.take(1, of: key, at: 0) == .taken) }
        #expect(buckets.take(1, of: "a", at: 0) != .taken)
        #expect(buckets.count == 3)
        // `b` was used longest ago.
        #expect(buckets.take(1, of: "d", at: 0) == .taken)
        #expect(buckets.count == 3)
        #expect(buckets.take(1, of: "a", at: 0) != .taken)
        #expect(buckets.take(1, of: "c", at: 0) != .taken)
        #expect(buckets.take(1, of: "b", at: 0) == .taken)
    }

    @Test("buckets that are full again make room before the table grows")
    func reuse() throws {
        var buckets = try buckets(rate: 10, burst: 1)
        for number in 0..<1_000 as Range<Int64> {
            #expect(buckets.take(1, of: "\(number)", at: number * Self.second) == .taken)
        }
        #expect(buckets.count == 1)
    }

    @Test(
        "random use agrees with a table that forgets nothing",
        arguments: 1...3 as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        func next(_ bound: UInt64) -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state % bound
        }
        var buckets = try buckets(rate: 10, burst: 4)
        var model: [String: Double] = [:]
        var modelTime: [String: Int64] = [:]
        var now: Int64 = 0
        for _ in 0..<5_000 {
            now += Int64(next(5)) * Self.second / 100
            let key = "\(next(20))"
            let rest = Double(now - modelTime[key, default: 0]) / Double(Self.second) * 10
            var tokens = min(4, model[key, default: 4] + rest)
            let isFree = tokens >= 1 - 1e-9
            if isFree { tokens -= 1 }
            model[key] = tokens
            modelTime[key] = now
            #expect((buckets.take(1, of: key, at: now) == .taken) == isFree)
        }
    }

    @Test(
        "a limit has bounds",
        arguments: [
            (0, 1, false), (1, 0, false), (1, 1, true), (1_000_000, 10_000_000, true),
            (1_000_001, 1, false), (1, 10_000_001, false), (-1, 5, false),
        ])
    func bounds(rate: Int, burst: Int, isFine: Bool) {
        #expect((RateLimit(rate: rate, burst: burst) != nil) == isFine)
    }

    @Test("the window is the time in which a burst comes back, rounded up")
    func window() throws {
        #expect(try #require(RateLimit(rate: 100, burst: 100)).windowSeconds == 1)
        #expect(try #require(RateLimit(rate: 100, burst: 101)).windowSeconds == 2)
        #expect(try #require(RateLimit(rate: 3, burst: 1)).windowSeconds == 1)
    }
}
