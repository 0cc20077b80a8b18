/// Where a request really comes from, as far as listed proxies tell it.
public struct RequestOrigin: Equatable, Sendable {
    /// The address of the client; that of the nearest hop that is known where it is hidden.
    public var address: NetworkAddress
    /// Whether the client came by TLS, as far as is known.
    public var isSecure: Bool
    /// The authority that the client asked for, if a proxy tells another than `Host`.
    public var host: [UInt8]?
    /// Whether a listed proxy has named the address, and no hop of its way is hidden.
    public var isNamed: Bool

    /// Joins the parts.
    public init(
        address: NetworkAddress, isSecure: Bool = false, host: [UInt8]? = nil, isNamed: Bool = false
    ) {
        self.address = address
        self.isSecure = isSecure
        self.host = host
        self.isNamed = isNamed
    }
}

/// The fields in which proxies name the client they act for, all lines of each in their order.
public struct ForwardingFields: Sendable {
    /// `Forwarded` (RFC 7239).
    public var forwarded: [[UInt8]] = []
    /// `X-Forwarded-For`.
    public var forwardedFor: [[UInt8]] = []
    /// `X-Forwarded-Proto`.
    public var forwardedProto: [[UInt8]] = []
    /// `X-Forwarded-Host`.
    public var forwardedHost: [[UInt8]] = []

    /// No fields.
    public init() {}
}

/// Decides which client a request comes from when proxies are in front of the broker.
///
/// Only listed peers are believed. In a row of hops the right-most one that is not listed is the
/// client: everything to the left of it is that client's own claim.
public struct ProxyPolicy: Equatable, Sendable {
    private let trusted: [Network]

    /// The most hops that are looked at; a longer row is cut at its left end.
    public static let hopLimit = 32

    /// Takes the addresses of the proxies.
    public init(trusted: [Network]) {
        self.trusted = trusted
    }

    /// Whether no proxy is listed: then nothing that a request says matters.
    public var isEmpty: Bool { trusted.isEmpty }

    /// Whether a peer is a listed proxy.
    public func trusts(_ address: NetworkAddress) -> Bool {
        trusted.contains { $0.contains(address) }
    }

    /// Where a request of this peer comes from.
    ///
    /// When `Forwarded` and `X-Forwarded-For` name different clients, the client wrote one of them,
    /// and the broker cannot tell which: the request then has no address of its own, and counts as
    /// one without TLS.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection, and whether it is encrypted.
    ///   - fields: what the request says of its way.
    public func origin(of peer: RequestOrigin, _ fields: ForwardingFields) -> RequestOrigin {
        guard trusts(peer.address) else { return peer }
        let standard = fields.forwarded.isEmpty ? nil : follow(Self.hops(fields.forwarded), peer)
        let common = fields.forwardedFor.isEmpty ? nil : follow(Self.hops(ofCommon: fields), peer)
        switch (standard, common) {
        case (var standard?, let common?):
            guard standard.address == common.address else {
                return RequestOrigin(address: Self.nobodysAddress)
            }
            if !common.isNamed { standard.isNamed = false }
            return standard
        case (let origin?, nil), (nil, let origin?):
            return origin
        case (nil, nil):
            return follow(Self.hops(ofCommon: fields), peer)
        }
    }

    /// The address of all whose own is in doubt (RFC 1122 §3.2.1.3): they share what one address
    /// may have.
    private static let nobodysAddress = NetworkAddress(ipv4: 0)

    /// Follows the hops from right to left as long as they are listed.
    private func follow(_ hops: [Hop], _ peer: RequestOrigin) -> RequestOrigin {
        var origin = peer
        for hop in hops.reversed() {
            // The listed hop to the right of this one reports how the request came.
            if let isSecure = hop.isSecure { origin.isSecure = isSecure }
            if let host = hop.host { origin.host = host }
            origin.isNamed = hop.address != nil
            guard let address = hop.address else { return origin }
            origin.address = address
            guard trusts(address) else { return origin }
        }
        return origin
    }

    /// One step of a request on its way.
    struct Hop: Equatable {
        /// nil where it is hidden, unknown, absent or no address.
        var address: NetworkAddress?
        var isSecure: Bool?
        var host: [UInt8]?
    }
}

// The fields become hops; a hop that cannot be read is unknown.
extension ProxyPolicy {
    /// The hops of `Forwarded` (RFC 7239 §4), the nearest last.
    static func hops(_ lines: [[UInt8]]) -> [Hop] {
        var hops: [Hop] = []
        for line in lines {
            for element in quotedPieces(of: line[...], separator: UInt8(ascii: ",")) {
                hops.append(hop(element))
            }
        }
        return Array(hops.suffix(hopLimit))
    }

    private static func hop(_ element: ArraySlice<UInt8>) -> Hop {
        var hop = Hop()
        var seen: Set<[UInt8]> = []
        for pair in quotedPieces(of: element, separator: UInt8(ascii: ";")) {
            if pair.isEmpty { continue }
            guard let mark = pair.firstIndex(of: UInt8(ascii: "=")),
                let value = unquoted(pair[(mark + 1)...]),
                // Each parameter occurs once (RFC 7239 §4).
                seen.insert(lowercase(Array(pair[..<mark]))).inserted
            else { return Hop() }
            switch lowercase(Array(pair[..<mark])) {
            case Array("for".utf8): hop.address = address(ofNode: value[...])
            case Array("proto".utf8): hop.isSecure = isSecure(value)
            case Array("host".utf8): hop.host = host(value)
            default: continue
            }
        }
        return hop
    }

    /// The hops of `X-Forwarded-For`, which has one protocol and one host for all of them: those of
    /// the nearest proxy that told them.
    ///
    /// These fields have no quoted strings: a quotation mark is a byte like others.
    static func hops(ofCommon fields: ForwardingFields) -> [Hop] {
        func values(_ lines: [[UInt8]]) -> [[UInt8]] {
            lines.flatMap { line in
                line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                    .map { Array(trimmed($0)) }
            }
        }
        var hops = values(fields.forwardedFor).suffix(hopLimit)
            .map { Hop(address: address(ofNode: $0[...])) }
        let proto = values(fields.forwardedProto).last
        let host = values(fields.forwardedHost).last
        if hops.isEmpty, proto != nil || host != nil { hops.append(Hop()) }
        if let last = hops.indices.last {
            if let proto { hops[last].isSecure = isSecure(proto) }
            if let host { hops[last].host = Self.host(host) }
        }
        return hops
    }

    /// An address with or without a port; `unknown` and hidden names (`_x`) are none.
    static func address(ofNode node: ArraySlice<UInt8>) -> NetworkAddress? {
        let colon = UInt8(ascii: ":")
        if node.first == UInt8(ascii: "[") {
            guard let end = node.lastIndex(of: UInt8(ascii: "]")) else { return nil }
            let rest = node[(end + 1)...]
            guard rest.isEmpty || rest.first == colon && isPort(rest.dropFirst()) else {
                return nil
            }
            return NetworkAddress(node[...end])
        }
        guard let mark = node.lastIndex(of: colon), node.firstIndex(of: colon) == mark else {
            return NetworkAddress(node)
        }
        return isPort(node[(mark + 1)...]) ? NetworkAddress(node[..<mark]) : nil
    }

    /// Up to five digits, or a hidden port (RFC 7239 §6).
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        if text.first == UInt8(ascii: "_") {
            return text.count > 1 && text.dropFirst().allSatisfy(isHiddenByte)
        }
        return (1...5).contains(text.count) && text.allSatisfy { (48...57).contains($0) }
    }

    private static func isHiddenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func isSecure(_ text: [UInt8]) -> Bool {
        let text = lowercase(text)
        return text == Array("https".utf8) || text == Array("wss".utf8)
    }

    /// A name or an address with an optional port; anything else is no host.
    private static func host(_ text: [UInt8]) -> [UInt8]? {
        let isHost =
            (1...255).contains(text.count)
            && text.allSatisfy { byte in
                isHiddenByte(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "[")
                    || byte == UInt8(ascii: "]")
            }
        return isHost ? text : nil
    }

    /// Splits at a separator outside of quoted strings, and drops blanks around the pieces.
    ///
    /// It goes from right to left, as each proxy appends to what it got: a quotation mark that is
    /// left open swallows the text to the left of it, and nothing that was appended.
    private static func quotedPieces(
        of text: ArraySlice<UInt8>, separator: UInt8
    ) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var end = text.endIndex
        var isQuoted = false
        for index in text.indices.reversed() {
            if text[index] == UInt8(ascii: "\"") {
                // Within a quoted string a mark is escaped by an odd row of backslashes.
                let escapes = text[..<index].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
                if !isQuoted || escapes.isMultiple(of: 2) { isQuoted.toggle() }
            } else if text[index] == separator, !isQuoted {
                pieces.append(trimmed(text[(index + 1)..<end]))
                end = index
            }
        }
        pieces.append(trimmed(text[..<end]))
        return pieces.reversed()
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while let first = text.first, first == 32 || first == 9 { text = text.dropFirst() }
        while let last = text.last, last == 32 || last == 9 { text = text.dropLast() }
        return text
    }

    /// The text of a quoted string (RFC 9110 §5.6.4), or a token as it is; nil for a part of one.
    private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let quote = UInt8(ascii: "\"")
        guard text.first == quote else { return text.contains(quote) ? nil : Array(text) }
        guard text.count >= 2, text.last == quote else { return nil }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in text.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                if byte == quote, !isEscaped { return nil }
                result.append(byte)
                isEscaped = false
            }
        }
        return isEscaped ? nil : result
    }
}
