import BelfryAccess

/// Where requests may come from.
struct AccessPolicies {
    let origin: OriginPolicy
    let host: HostPolicy
    let proxy: ProxyPolicy
    /// Whether there is any limit of rates.
    let hasRates: Bool
    /// The host name that was allowed last.
    var allowedHost: [UInt8] = []

    init(_ configuration: ServerConfiguration) {
        origin = OriginPolicy(
            allowed: configuration.allowedOrigins, allowsLoopback: configuration.isLoopbackOnly)
        host = HostPolicy(configuration)
        proxy = ProxyPolicy(trusted: configuration.trustedProxies)
        hasRates = configuration.hasRates
    }

    /// Whether the address of a request matters: otherwise nobody asks for it.
    var needsOrigin: Bool { hasRates || !proxy.isEmpty }
}
