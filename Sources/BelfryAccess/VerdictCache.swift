/// The callers of tokens that were verified, so that a token is verified once.
///
/// The cache is bounded: the oldest entry goes. Refused tokens are not kept, since an attacker
/// chooses their number.
public struct VerdictCache {
    private var callers: [TokenDigest: Caller] = [:]
    private var order: [TokenDigest] = []
    /// Where the next one goes, once all places are taken.
    private var next = 0
    private let limit: Int

    /// How many callers are kept.
    public init(limit: Int = 10_000) {
        self.limit = limit
    }

    /// The caller of a token, if it was verified lately; the user of the caller checks its time.
    public func caller(_ digest: TokenDigest) -> Caller? { callers[digest] }

    /// Keeps the caller of a token.
    public mutating func insert(_ caller: Caller, for digest: TokenDigest) {
        guard callers.updateValue(caller, forKey: digest) == nil else { return }
        if order.count < limit {
            order.append(digest)
        } else {
            callers[order[next]] = nil
            order[next] = digest
            next = (next + 1) % limit
        }
    }

    /// Forgets all.
    public mutating func removeAll() {
        callers = [:]
        order = []
        next = 0
    }

    /// How many are kept.
    public var count: Int { callers.count }
}
