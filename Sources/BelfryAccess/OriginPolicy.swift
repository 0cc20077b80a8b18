/// Decides which web pages may use the broker (RFC 6454, RFC 6455 §10.2).
///
/// A request with neither `Origin` nor `Sec-Fetch-Site` does not come from a page, and is not its
/// matter. Scheme and port belong to an origin; `https://*.example` covers every name below
/// `example`.
public struct OriginPolicy: Sendable, Equatable {
    private let allowed: [OriginPattern]
    private let allowsLoopback: Bool

    /// Takes the allow-list.
    ///
    /// - Parameters:
    ///   - allowed: origins such as `https://app.example`, `https://*.example`,
    ///     `http://localhost:*`, or `*` for any.
    ///   - allowsLoopback: whether pages that were served from this machine may use the broker.
    public init(allowed: [String], allowsLoopback: Bool) {
        self.allowed = allowed.map { OriginPattern($0) }
        self.allowsLoopback = allowsLoopback
    }

    /// Whether a page of this origin may use the broker that was addressed as `host`.
    ///
    /// - Parameters:
    ///   - origin: the value of the `Origin` field.
    ///   - host: the value of the `Host` field, or the authority of the request target.
    ///   - isSecure: whether the request came over TLS.
    public func allows(origin: [UInt8], host: [UInt8], isSecure: Bool) -> Bool {
        guard let page = Origin(origin) else { return false }
        if allowed.contains(where: { $0.covers(page) }) { return true }
        if allowsLoopback, isLoopbackName(page.host) { return true }
        let own = Origin(Array((isSecure ? "https://" : "http://").utf8) + lowercase(host))
        return own == page
    }

    /// Whether a request that has no `Origin` may come from where its `Sec-Fetch-Site` says.
    ///
    /// `cross-site` and `same-site` are another origin, and which one is not told: that is enough
    /// only where any may use the broker.
    public func allows(fetchSite: [UInt8]) -> Bool {
        let isForeign = fetchSite == Self.crossSite || fetchSite == Self.sameSite
        return !isForeign || allowed.contains { $0.isAny }
    }

    private static let crossSite = Array("cross-site".utf8)
    private static let sameSite = Array("same-site".utf8)

    /// Whether a text is a valid entry of the allow-list.
    public static func isPattern(_ text: String) -> Bool { OriginPattern(text).isWellFormed }

    /// Whether an origin is in the allow-list or local, so that it gets CORS answers.
    public func isListed(origin: [UInt8]) -> Bool {
        guard let page = Origin(origin) else { return false }
        return allowed.contains(where: { $0.covers(page) })
            || allowsLoopback && isLoopbackName(page.host)
    }
}

/// Decides which `Host` values the broker answers to, so that a foreign name that resolves to this
/// machine opens nothing (DNS rebinding).
public struct HostPolicy: Sendable, Equatable {
    private let names: [[UInt8]]
    private let allowsAny: Bool

    /// Takes the allow-list: host names, or `*` for any; loopback names are always allowed.
    public init(allowed: [String]) {
        allowsAny = allowed.contains("*")
        names = allowed.map { lowercase(Array($0.utf8)) }
    }

    /// Whether requests to this host (without its port) are answered.
    public func allows(host: [UInt8]) -> Bool {
        if allowsAny { return true }
        let host = lowercase(host)
        return isLoopbackName(host) || names.contains(host)
    }
}

/// Scheme, host and port of a web page, in lower case; a default port is made explicit.
struct Origin: Equatable {
    let scheme: [UInt8]
    let host: [UInt8]
    let port: [UInt8]

    init?(_ text: [UInt8]) {
        let text = lowercase(text)
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")),
            text[colon...].starts(with: "://".utf8)
        else { return nil }
        scheme = Array(text[..<colon])
        let authority = text[(colon + 3)...]
        guard !authority.isEmpty, !authority.contains(UInt8(ascii: "/")) else { return nil }
        let bracketEnd = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        if let portColon = authority[bracketEnd...].lastIndex(of: UInt8(ascii: ":")) {
            host = Array(authority[..<portColon])
            port = Array(authority[(portColon + 1)...])
        } else {
            host = Array(authority)
            port = scheme == Array("https".utf8) ? Array("443".utf8) : Array("80".utf8)
        }
    }
}

/// An origin of the allow-list: an exact one or a pattern.
///
/// A pattern has `*.` before the host for any name below it, `:*` for any port, or is `*` alone.
struct OriginPattern: Equatable {
    let isAny: Bool
    private let origin: Origin?

    init(_ text: String) {
        let bytes = lowercase(Array(text.utf8))
        isAny = bytes == [UInt8(ascii: "*")]
        origin = Origin(bytes)
    }

    /// Whether it is an origin at all: a scheme and a host that some page can have.
    var isWellFormed: Bool {
        if isAny { return true }
        guard let origin, !origin.scheme.isEmpty else { return false }
        let host = origin.host.starts(with: "*.".utf8) ? origin.host.dropFirst(2) : origin.host[...]
        let isBracketed = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]")
        let hostIsFine =
            !host.isEmpty
            && host.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
                case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"): isBracketed
                default: (48...57).contains(byte) || (97...122).contains(byte)
                }
            }
        let portIsFine =
            origin.port == [UInt8(ascii: "*")]
            || (1...5).contains(origin.port.count)
                && origin.port.allSatisfy { (48...57).contains($0) }
        return hostIsFine && portIsFine
    }

    func covers(_ page: Origin) -> Bool {
        if isAny { return true }
        guard let origin, origin.scheme == page.scheme else { return false }
        guard origin.port == page.port || origin.port == [UInt8(ascii: "*")] else { return false }
        if origin.host.starts(with: "*.".utf8) {
            let suffix = origin.host.dropFirst()
            return page.host.count > suffix.count && page.host.suffix(suffix.count) == suffix
        }
        return origin.host == page.host
    }
}

/// Whether a host name can only mean this machine.
func isLoopbackName(_ host: [UInt8]) -> Bool {
    if host == Array("localhost".utf8) || host == Array("[::1]".utf8) { return true }
    if host.count > 10, host.suffix(10) == Array(".localhost".utf8)[...] { return true }
    let parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0].elementsEqual("127".utf8) else { return false }
    return parts.allSatisfy { part in
        (1...3).contains(part.count) && part.allSatisfy { (48...57).contains($0) }
    }
}

/// ASCII upper case letters made lower case.
func lowercase(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { (65...90).contains($0) ? $0 + 32 : $0 }
}
