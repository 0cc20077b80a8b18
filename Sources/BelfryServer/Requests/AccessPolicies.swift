import BelfryAccess

/// The policies about the source of requests.
struct AccessPolicies {
    let origin: OriginPolicy
    let host: HostPolicy
    let proxy: ProxyPolicy
    /// Whether there are limits of rates.
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

    /// Whether the address of a request matters: otherwise it is not looked up.
    var needsOrigin: Bool { hasRates || !proxy.isEmpty }
}
