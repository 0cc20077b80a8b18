import BelfryBytes
import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire

// Where requests come from, and how many of them are let in (decision 38).

extension Callers {
    /// Finds out where the request whose head was read comes from.
    mutating func findOrigin(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard var origin = peerOrigin(of: id, &outbox) else { return }
        if policies.proxy.trusts(origin.address) {
            origin = policies.proxy.origin(of: origin, forwardingFields())
        }
        exchange.origin = origin
        connections[id].address = origin.address
    }

    /// The other end of a connection.
    private func peerOrigin(of id: ConnectionID, _ outbox: inout Outbox) -> RequestOrigin? {
        peerAddress(of: id, &outbox).map {
            RequestOrigin(address: $0, isSecure: entrance.isSecure(id))
        }
    }

    /// Where what is asked on a connection comes from, if that matters to a center.
    func askerAddress(
        of id: ConnectionID, _ known: NetworkAddress?, _ outbox: inout Outbox
    ) -> NetworkAddress? {
        policies.hasRates || outbox.shares.countsAddresses
            ? known ?? peerAddress(of: id, &outbox) : nil
    }

    /// The address of the other end of a connection.
    func peerAddress(of id: ConnectionID, _ outbox: inout Outbox) -> NetworkAddress? {
        outbox.loop.peerAddress(of: id).map { NetworkAddress($0) }
    }

    private func forwardingFields() -> ForwardingFields {
        let head = exchange.parser.head
        func lines(_ name: String) -> [[UInt8]] {
            head.values(of: name).map { [UInt8](copying: head.value(in: $0)) }
        }
        var fields = ForwardingFields()
        fields.forwarded = lines("forwarded")
        fields.forwardedFor = lines("x-forwarded-for")
        fields.forwardedProto = lines("x-forwarded-proto")
        fields.forwardedHost = lines("x-forwarded-host")
        return fields
    }

    // MARK: Rates

    /// Counts a request for its address; probes of its health are always answered.
    mutating func chargeAddress(_ outbox: inout Outbox) throws(Problem) {
        guard policies.hasRates, let origin = exchange.origin, !isProbe else { return }
        do throws(RateTables.Refusal) {
            try shared.rates.take(of: origin.address, at: outbox.loop.now.nanoseconds)
        } catch {
            throw refuse(error, &outbox)
        }
    }

    private var isProbe: Bool {
        Self.probePaths.contains { bytesAreEqual(exchange.parser.head.path, $0.span) }
    }

    private static let probePaths = ["/livez", "/readyz", "/healthz"].map { Array($0.utf8) }

    /// Counts a request, or the items of a batch, for its caller.
    mutating func charge(_ request: CenterRequest, _ caller: Caller, _ outbox: inout Outbox)
        throws(Problem)
    {
        var count = 1
        if case .postBatch(let posts, _) = request { count = max(1, posts.count) }
        try charge(count, caller, &outbox)
    }

    /// Counts so many requests for a caller.
    mutating func charge(_ count: Int, _ caller: Caller, _ outbox: inout Outbox) throws(Problem) {
        guard policies.hasRates, let origin = exchange.origin else { return }
        do throws(RateTables.Refusal) {
            try shared.rates.take(
                count, of: caller, at: origin.address, outbox.loop.now.nanoseconds)
        } catch {
            throw refuse(error, &outbox)
        }
    }

    private mutating func refuse(_ refusal: RateTables.Refusal, _ outbox: inout Outbox) -> Problem {
        outbox.counters.rateRefused += 1
        exchange.refusalFields = Self.fields(of: refusal)
        return refusal.problem
    }

    /// `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-09): the quota is the
    /// burst, which comes back in its window.
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
