import BelfryBytes
import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire

// The sources of requests, and their rates (decision 38).

extension Gate {
    /// Finds the source of the request whose head was read.
    mutating func findOrigin(
        of id: ConnectionID, _ exchange: inout Exchange, _ outbox: inout Outbox
    ) {
        guard let address = Self.peerAddress(of: id, &outbox) else { return }
        var origin = RequestOrigin(address: address, isSecure: exchange.isSecure)
        if policies.proxy.trusts(origin.address) {
            origin = policies.proxy.origin(of: origin, exchange.parser.head.forwardingFields())
        }
        exchange.origin = origin
    }

    /// The address that requests of a connection count for, if that matters to a center.
    mutating func askerAddress(
        of id: ConnectionID, _ known: NetworkAddress?, _ outbox: inout Outbox
    ) -> NetworkAddress? {
        policies.hasRates || outbox.shares.countsAddresses
            ? known ?? Self.peerAddress(of: id, &outbox) : nil
    }

    /// The address of the other end of a connection.
    static func peerAddress(of id: ConnectionID, _ outbox: inout Outbox) -> NetworkAddress? {
        outbox.loop.peer(of: id).map { NetworkAddress($0.address) }
    }

    // MARK: Rates

    /// Counts a request for its address; probes of health are always answered.
    mutating func chargeAddress(
        _ exchange: inout Exchange, _ outbox: inout Outbox
    ) throws(Problem) {
        guard let origin = exchange.origin, !exchange.parser.head.isProbe else { return }
        do throws(RateTables.Refusal) {
            try shared.askers.rates.take(of: origin.address, at: outbox.loop.now.nanoseconds)
        } catch {
            throw refuse(error, &exchange, &outbox)
        }
    }

    /// Counts a request, or the items of a batch, for its caller.
    mutating func charge(
        _ count: Int, _ exchange: inout Exchange, _ outbox: inout Outbox
    ) throws(Problem) {
        guard policies.hasRates, let origin = exchange.origin else { return }
        do throws(RateTables.Refusal) {
            try shared.askers.rates.take(
                count, of: exchange.caller(outbox.anonymous), at: origin.address,
                outbox.loop.now.nanoseconds)
        } catch {
            throw refuse(error, &exchange, &outbox)
        }
    }

    private mutating func refuse(
        _ refusal: RateTables.Refusal, _ exchange: inout Exchange, _ outbox: inout Outbox
    ) -> Problem {
        outbox.counters.rateRefused += 1
        exchange.refusalFields = Self.fields(of: refusal)
        return refusal.problem
    }

    /// The fields of a refusal (draft-ietf-httpapi-ratelimit-headers-09).
    ///
    /// `RateLimit` and `RateLimit-Policy` have the burst as quota, which refills in its window.
    static func fields(of refusal: RateTables.Refusal) -> [HTTPField] {
        let name = refusal.policy.rawValue
        let limit = refusal.limit
        return [
            HTTPField("Retry-After", "\(refusal.waitSeconds)"),
            HTTPField("RateLimit", "\"\(name)\";r=0;t=\(refusal.waitSeconds)"),
            HTTPField("RateLimit-Policy", "\"\(name)\";q=\(limit.burst);w=\(limit.windowSeconds)"),
        ]
    }
}

extension RequestHead {
    /// Whether it is a probe of the broker's health, which costs nothing.
    fileprivate var isProbe: Bool {
        Self.probePaths.contains { bytesAreEqual(path, $0.span) }
    }

    private static let probePaths = RoutePath.ofService.filter { $0.facts.answering == .always }
        .map { Array($0.pattern.utf8) }

    fileprivate func forwardingFields() -> ForwardingFields {
        var fields = ForwardingFields()
        fields.forwarded = copies(of: "forwarded")
        fields.forwardedFor = copies(of: "x-forwarded-for")
        fields.forwardedProto = copies(of: "x-forwarded-proto")
        fields.forwardedHost = copies(of: "x-forwarded-host")
        return fields
    }
}

extension NetworkAddress {
    /// The address of a socket.
    init(_ address: SocketAddress) {
        let bits = address.bits
        if address.isIPv6 {
            self.init(ipv6High: bits.high, low: bits.low)
        } else {
            self.init(ipv4: UInt32(truncatingIfNeeded: bits.low))
        }
    }
}
