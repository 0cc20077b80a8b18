import BelfryAccess
import BelfryWire
import Synchronization

/// The recent requests of addresses and principals.
///
/// All loops share it: a client must not get a bucket for each loop that the kernel puts its
/// connections on. The lock is not taken while no limit is set.
final class RateTables: Sendable {
    private let tables = Mutex(Tables())

    private struct Tables {
        var addresses: TokenBuckets<NetworkAddress>?
        var principals: TokenBuckets<Asker>?
    }

    /// A limit that was passed.
    struct Refusal: Error, Equatable {
        let policy: Policy
        let limit: RateLimit
        let waitNanoseconds: Int64
    }

    /// The key that a limit counts by.
    enum Policy: String {
        case address
        case principal
    }

    /// Adopts the limits of a configuration; earlier requests still count.
    func adopt(_ configuration: ServerConfiguration) {
        tables.withLock { tables in
            Self.adopt(configuration.addressRate, &tables.addresses)
            Self.adopt(configuration.principalRate, &tables.principals)
        }
    }

    private static func adopt<Key>(_ limit: RateLimit?, _ buckets: inout TokenBuckets<Key>?) {
        guard let limit else {
            buckets = nil
            return
        }
        if buckets == nil { buckets = TokenBuckets(limit) } else { buckets?.limit = limit }
    }

    /// Admits a request of an address, or refuses it.
    func take(of address: NetworkAddress, at now: Int64) throws(Refusal) {
        let refusal = tables.withLock { tables in
            Self.take(1, of: address.counted, .address, at: now, from: &tables.addresses)
        }
        if let refusal { throw refusal }
    }

    /// Admits `count` requests of a caller, or refuses them.
    ///
    /// Those past the first also count for the address.
    func take(
        _ count: Int, of caller: Caller, at address: NetworkAddress, _ now: Int64
    ) throws(Refusal) {
        let counted = address.counted
        let asker: Asker = caller.isAnonymous ? .address(counted) : .principal(caller.principal)
        let refusal = tables.withLock { tables in
            if count > 1 { tables.addresses?.charge(count - 1, of: counted, at: now) }
            return Self.take(count, of: asker, .principal, at: now, from: &tables.principals)
        }
        if let refusal { throw refusal }
    }

    private static func take<Key>(
        _ count: Int, of key: Key, _ policy: Policy, at now: Int64,
        from buckets: inout TokenBuckets<Key>?
    ) -> Refusal? {
        guard let limit = buckets?.limit, let verdict = buckets?.take(count, of: key, at: now)
        else { return nil }
        switch verdict {
        case .taken: return nil
        case .refused(let wait):
            return Refusal(policy: policy, limit: limit, waitNanoseconds: wait)
        }
    }
}

extension RateTables.Refusal {
    /// The whole seconds until there is room again.
    var waitSeconds: Int { Int((waitNanoseconds + 999_999_999) / 1_000_000_000) }

    /// The problem for the caller; over JSON-RPC it is all that the caller gets.
    var problem: Problem {
        let whose =
            switch policy {
            case .address: "An address"
            case .principal: "A caller"
            }
        return Problem(
            .rateLimited,
            "\(whose) may make \(limit.rate) requests a second, in bursts of up to \(limit.burst).",
            members: [
                Problem.Member("policy", string: Array(policy.rawValue.utf8)),
                Problem.Member("retryAfter", integer: waitSeconds),
            ])
    }
}
