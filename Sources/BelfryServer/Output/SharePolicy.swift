import BelfryAccess

/// How much one principal, or one address that is not loopback, may have of each kind, so that one
/// cannot use up what all need (decision 70).
struct SharePolicy {
    let limits: ShareLimits
    /// Whether requests may come from addresses that are counted.
    let countsAddresses: Bool
    /// Proxies stand for many.
    private let proxies: ProxyPolicy

    init(_ configuration: ServerConfiguration, connectionLimit: Int) {
        limits = ShareLimits(configuration, connectionLimit: connectionLimit)
        countsAddresses = limits.address != nil && !configuration.hasOnlyLoopbackClients
        proxies = ProxyPolicy(trusted: configuration.trustedProxies)
    }

    /// What one may have of what an asker has; nil where that is all.
    @inline(__always)
    func limit(of asker: Asker) -> ShareLimit? {
        if case .address(let address) = asker, !countsAddresses || address.isLoopback { return nil }
        return limits[asker]
    }

    /// Who is counted for an address; a listed proxy stands for many.
    func asker(at address: NetworkAddress?) -> Asker? {
        guard let address, countsAddresses, !address.isLoopback, !proxies.trusts(address)
        else { return nil }
        return .address(address.counted)
    }
}
