import Testing

@testable import BelfryAccess

@Suite("ProxyPolicy (RFC 7239)")
struct ProxyPolicyTests {
    private static let policy = ProxyPolicy(
        trusted: ["10.0.0.0/8", "2001:db8::/32"].compactMap { Network($0) })

    private func origin(
        peer: String = "10.0.0.1", forwarded: [String] = [], commonFor: [String] = [],
        proto: [String] = [], host: [String] = []
    ) throws -> RequestOrigin {
        var fields = ForwardingFields()
        fields.forwarded = forwarded.map { Array($0.utf8) }
        fields.forwardedFor = commonFor.map { Array($0.utf8) }
        fields.forwardedProto = proto.map { Array($0.utf8) }
        fields.forwardedHost = host.map { Array($0.utf8) }
        let peer = try #require(NetworkAddress(Array(peer.utf8)))
        return Self.policy.origin(of: RequestOrigin(address: peer), fields)
    }

    @Test(
        "Forwarded: the right-most hop that is not listed is the client",
        arguments: [
            ([], "10.0.0.1", false), (["for=192.0.2.7"], "192.0.2.7", false),
            (["for=192.0.2.7;proto=https"], "192.0.2.7", true),
            (["proto=https;For=192.0.2.7"], "192.0.2.7", true),
            (["FOR=\"192.0.2.7:4711\";by=10.0.0.1"], "192.0.2.7", false),
            (["for=\"[2001:db9::7]:_port\""], "2001:db9:0:0:0:0:0:7", false),
            (["for=\"[2001:db9::7]\""], "2001:db9:0:0:0:0:0:7", false),
            (["for=203.0.113.9, for=192.0.2.7"], "192.0.2.7", false),
            (["for=192.0.2.7, for=10.1.1.1"], "192.0.2.7", false),
            (["for=192.0.2.7", "for=10.1.1.1"], "192.0.2.7", false),
            (["for=192.0.2.7;proto=https, for=10.1.1.1;proto=http"], "192.0.2.7", true),
            (["for=192.0.2.7;proto=http, for=10.1.1.1;proto=https"], "192.0.2.7", false),
            (["for=10.2.2.2, for=10.1.1.1"], "10.2.2.2", false),
            (["for=203.0.113.9;proto=https, for=192.0.2.7"], "192.0.2.7", false),
            // Hidden, unknown and broken hops end the walk: what is left of them is a claim.
            (["for=192.0.2.7, for=_hidden"], "10.0.0.1", false),
            (["for=192.0.2.7, for=unknown, for=10.1.1.1"], "10.1.1.1", false),
            (["for=192.0.2.7, proto=https"], "10.0.0.1", true),
            (["for=192.0.2.7, for=\"192.0.2.8"], "10.0.0.1", false),
            (["for=192.0.2.7, for=192.0.2.8;for=192.0.2.9"], "10.0.0.1", false),
            (["for=192.0.2.7, nonsense"], "10.0.0.1", false),
            (["for=192.0.2.7, "], "10.0.0.1", false),
            (["for=\"192.0.2.7, for=10.1.1.1\""], "10.0.0.1", false),
            (["for=192.0.2.7:99999999"], "10.0.0.1", false),
            (["for=\"a\\\"b\";proto=https"], "10.0.0.1", true),
            // A client's quotation mark changes nothing of what the proxy has appended.
            (["for=\", for=192.0.2.7"], "192.0.2.7", false),
            (["\", for=192.0.2.7;proto=https"], "192.0.2.7", true),
            (["for=\"x\\, for=192.0.2.7"], "192.0.2.7", false),
            (["for=\"x\\\", for=\"192.0.2.7:1\""], "192.0.2.7", false),
            (["for=\\, for=\"[2001:db9::7]:1\", for=10.1.1.1"], "2001:db9:0:0:0:0:0:7", false),
            (["for=\"", "for=192.0.2.7"], "192.0.2.7", false),
            (["for=203.0.113.9;by=\"a,b;c\", for=192.0.2.7;by=\"d,e;f\""], "192.0.2.7", false),
        ] as [([String], String, Bool)])
    func forwarded(lines: [String], address: String, isSecure: Bool) throws {
        let origin = try origin(forwarded: lines)
        #expect(origin.address.description == address)
        #expect(origin.isSecure == isSecure)
    }

    @Test(
        "X-Forwarded-For: the same, with a protocol and a host beside it",
        arguments: [
            (["192.0.2.7"], [], [], "192.0.2.7", false, nil),
            (["203.0.113.9, 192.0.2.7"], ["https"], [], "192.0.2.7", true, nil),
            (
                ["192.0.2.7,10.1.1.1"], ["HTTPS"], ["bell.example"], "192.0.2.7", true,
                "bell.example"
            ),
            (["192.0.2.7", "10.1.1.1"], ["http, https"], [], "192.0.2.7", true, nil),
            (["192.0.2.7:4711"], ["wss"], [], "192.0.2.7", true, nil),
            (["[2001:db9::7]:1"], ["http"], [], "2001:db9:0:0:0:0:0:7", false, nil),
            (["2001:db9::7"], [], [], "2001:db9:0:0:0:0:0:7", false, nil),
            (["unknown"], ["https"], [], "10.0.0.1", true, nil),
            (["192.0.2.7, x"], [], [], "10.0.0.1", false, nil),
            (
                ["\", 192.0.2.7"], ["\", https"], ["\", bell.example"], "192.0.2.7", true,
                "bell.example"
            ),
            (["\"", "192.0.2.7"], ["\"", "https"], [], "192.0.2.7", true, nil),
            (["\\\", 192.0.2.7, 10.1.1.1"], [], [], "192.0.2.7", false, nil),
            ([""], [], [], "10.0.0.1", false, nil),
            ([], ["https"], ["bell.example:8443"], "10.0.0.1", true, "bell.example:8443"),
            (["192.0.2.7"], [], ["a b"], "192.0.2.7", false, nil),
            (["192.0.2.7"], [], ["evil.example, bell.example"], "192.0.2.7", false, "bell.example"),
        ] as [([String], [String], [String], String, Bool, String?)])
    func common(
        lines: [String], proto: [String], host: [String], address: String, isSecure: Bool,
        told: String?
    ) throws {
        let origin = try origin(commonFor: lines, proto: proto, host: host)
        #expect(origin.address.description == address)
        #expect(origin.isSecure == isSecure)
        #expect(origin.host == told.map { Array($0.utf8) })
    }

    @Test("a peer that is not listed is believed nothing")
    func foreign() throws {
        let origin = try origin(
            peer: "192.0.2.99", forwarded: ["for=203.0.113.9;proto=https;host=evil"],
            commonFor: ["203.0.113.9"], proto: ["https"], host: ["evil"])
        #expect(origin.address.description == "192.0.2.99")
        #expect(!origin.isSecure)
        #expect(origin.host == nil)
        #expect(ProxyPolicy(trusted: []).isEmpty)
        #expect(!Self.policy.isEmpty)
    }

    @Test("a client that adds the field that the proxy does not write gains nothing")
    func conflict() throws {
        let spoofed = try origin(
            forwarded: ["for=203.0.113.9;proto=https"], commonFor: ["192.0.2.7"])
        // Neither the proxy, which may have no limits, nor another client.
        #expect(spoofed == RequestOrigin(address: NetworkAddress(ipv4: 0)))
        let agreed = try origin(
            forwarded: ["for=192.0.2.7;proto=https;host=bell.example"], commonFor: ["192.0.2.7"])
        #expect(agreed.address.description == "192.0.2.7")
        #expect(agreed.isSecure)
        #expect(agreed.host == Array("bell.example".utf8))
    }

    @Test("a row of hops is cut at its left end, at the limit and one past it")
    func hopLimit() throws {
        func row(_ count: Int) -> [String] {
            ["for=192.0.2.7, " + (0..<count).map { "for=10.1.1.\($0)" }.joined(separator: ", ")]
        }
        #expect(try origin(forwarded: row(31)).address.description == "192.0.2.7")
        #expect(try origin(forwarded: row(32)).address.description == "10.1.1.0")
        let common = "192.0.2.7, " + (0..<32).map { "10.1.1.\($0)" }.joined(separator: ",")
        #expect(try origin(commonFor: [common]).address.description == "10.1.1.0")
    }

    @Test("no bytes of the fields are fatal")
    func random() throws {
        var state: UInt64 = 88_172_645_463_325_252
        let alphabet = Array("for=\"[]:;,\\ _unknow10.2:proto=https\u{e9}".utf8)
        for _ in 0..<5_000 {
            var line: [UInt8] = []
            for _ in 0..<40 {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                line.append(alphabet[Int(state % UInt64(alphabet.count))])
            }
            var fields = ForwardingFields()
            fields.forwarded = [line]
            fields.forwardedFor = state.isMultiple(of: 2) ? [line] : []
            fields.forwardedHost = [line]
            let peer = RequestOrigin(address: NetworkAddress(ipv4: 0x0A00_0001))
            let origin = Self.policy.origin(of: peer, fields)
            #expect(origin.host?.contains(UInt8(ascii: " ")) != true)
        }
    }
}
