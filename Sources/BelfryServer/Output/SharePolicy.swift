import BelfryAccess

/// The share of one principal, or of one address that is not loopback (decision 70).
///
/// It keeps one asker from using up the memory of all.
struct SharePolicy {
    let limits: ShareLimits
    /// Whether addresses are counted, and requests may come from other machines.
    let countsAddresses: Bool
    /// The proxies, whose addresses are not counted: they pass on many clients.
    private let proxies: ProxyPolicy

    init(_ configuration: ServerConfiguration, connectionLimit: Int) {
        limits = ShareLimits(configuration, connectionLimit: connectionLimit)
        countsAddresses = limits.address != nil && !configuration.hasOnlyLoopbackClients
        proxies = ProxyPolicy(trusted: configuration.trustedProxies)
    }

    /// The limit of an asker; nil where it may have all.
    @inline(__always)
    func limit(of asker: Asker) -> ShareLimit? {
        if case .address(let address) = asker, !countsAddresses || address.isLoopback { return nil }
        return limits[asker]
    }

    /// The asker that an address counts for; nil for a listed proxy, which passes on many clients.
    func asker(at address: NetworkAddress?) -> Asker? {
        guard let address, countsAddresses, !address.isLoopback, !proxies.trusts(address)
        else { return nil }
        return .address(address.counted)
    }
}
