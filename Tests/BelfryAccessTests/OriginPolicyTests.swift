import BelfryAccess
import Testing

@Suite("OriginPolicy (RFC 6454)")
struct OriginPolicyTests {
    @Test(
        "the origin that equals Host is allowed, with its scheme and port",
        arguments: [
            ("http://bell.example", "bell.example", false, true),
            ("http://bell.example:80", "bell.example", false, true),
            ("http://BELL.example", "bell.EXAMPLE", false, true),
            ("http://bell.example:8080", "bell.example:8080", false, true),
            ("http://bell.example:8081", "bell.example:8080", false, false),
            ("https://bell.example", "bell.example", false, false),
            ("https://bell.example", "bell.example", true, true),
            ("https://bell.example", "bell.example:443", true, true),
            ("http://other.example", "bell.example", false, false),
            ("http://bell.example.evil", "bell.example", false, false),
            ("null", "bell.example", false, false), ("", "bell.example", false, false),
            ("bell.example", "bell.example", false, false),
            ("http://bell.example/", "bell.example", false, false),
            ("file://", "bell.example", false, false), ("http://localhost", "x", false, false),
        ])
    func own(origin: String, host: String, isSecure: Bool, expected: Bool) {
        let policy = OriginPolicy(allowed: [], allowsLoopback: false)
        #expect(
            policy.allows(
                origin: Array(origin.utf8), host: Array(host.utf8), isSecure: isSecure) == expected)
    }

    @Test(
        "on a loopback bind every page of this machine is allowed, and no other",
        arguments: [
            ("http://localhost:3000", true), ("https://localhost", true),
            ("http://127.0.0.1:9", true), ("http://127.1.2.3", true), ("http://[::1]:80", true),
            ("http://app.localhost", true), ("http://localhost.evil", false),
            ("http://127.0.0.1.evil", false), ("http://127.evil", false), ("null", false),
            ("http://128.0.0.1", false), ("http://notlocalhost", false),
            ("http://127.0.0.1a", false), ("http://user@localhost", false),
        ])
    func loopback(origin: String, expected: Bool) {
        let policy = OriginPolicy(allowed: [], allowsLoopback: true)
        let host = Array("127.0.0.1:8080".utf8)
        #expect(
            policy.allows(origin: Array(origin.utf8), host: host, isSecure: false) == expected)
        #expect(policy.isListed(origin: Array(origin.utf8)) == expected)
    }

    @Test(
        "the allow-list has exact origins, names below a domain, or *",
        arguments: [
            ("https://app.example", "https://app.example", true),
            ("https://app.example", "https://app.example:443", true),
            ("https://app.example", "http://app.example", false),
            ("https://app.example", "https://app.example:444", false),
            ("https://app.example", "https://sub.app.example", false),
            ("https://*.example", "https://a.example", true),
            ("https://*.example", "https://a.b.example", true),
            ("https://*.example", "https://example", false),
            ("https://*.example", "https://.example", false),
            ("https://*.example", "https://evilexample", false),
            ("https://*.example", "https://a.example.evil", false),
            ("http://*.example:81", "http://a.example:81", true),
            ("http://*.example:81", "http://a.example", false),
            ("http://localhost:*", "http://localhost:3000", true),
            ("http://localhost:*", "http://localhost", true),
            ("http://localhost:*", "https://localhost:3000", false),
            ("http://localhost:*", "http://localhost.evil:3000", false),
            ("https://*.example:*", "https://a.example:444", true),
            ("chrome-extension://abcdef", "chrome-extension://abcdef", true),
            ("https://*", "https://anything", false),
            ("*", "https://anything", true), ("*", "null", false), ("nonsense", "nonsense", false),
        ])
    func listed(pattern: String, origin: String, expected: Bool) {
        let policy = OriginPolicy(allowed: [pattern], allowsLoopback: false)
        #expect(policy.isListed(origin: Array(origin.utf8)) == expected)
        #expect(
            policy.allows(
                origin: Array(origin.utf8), host: Array("bell".utf8), isSecure: false) == expected)
    }
}

@Suite("Patterns of origins")
struct OriginPatternTests {
    @Test(
        "what no page can have is no pattern",
        arguments: [
            ("*", true), ("https://app.example", true), ("https://*.example", true),
            ("http://localhost:*", true), ("http://[::1]:8080", true), ("app://x", true),
            ("HTTPS://App.Example", true), ("http://a_b.example", true),
            ("", false), ("app.example", false), ("https://", false), ("://x", false),
            ("https://app.example/", false), ("https://app.example/path", false),
            ("https://*", false), ("https://a.*.example", false), ("https://*app.example", false),
            ("https://user@app.example", false), ("https://app.example:", false),
            ("https://app.example:8o", false), ("https://app.example:123456", false),
            ("null", false), ("https://a b", false), ("**", false), ("https://*.", false),
        ])
    func wellFormed(text: String, expected: Bool) {
        #expect(OriginPolicy.isPattern(text) == expected)
    }
}

@Suite("HostPolicy (DNS rebinding)")
struct HostPolicyTests {
    @Test(
        "loopback names are always answered, others when they are listed",
        arguments: [
            ([], "localhost", true), ([], "LOCALHOST", true), ([], "127.0.0.1", true),
            ([], "127.255.0.9", true), ([], "[::1]", true), ([], "a.localhost", true),
            ([], ".localhost", false), ([], "bell.example", false), ([], "127.0.0.1.evil", false),
            ([], "127.0.0", false), ([], "127.0.0.1.", false), ([], "127..0.1", false),
            ([], "127.0.0.1111", false),
            (["bell.example"], "bell.example", true), (["bell.example"], "Bell.Example", true),
            (["Bell.Example"], "bell.example", true), (["bell.example"], "a.bell.example", false),
            (["bell.example"], "localhost", true), (["*"], "whatever", true), (["*"], "", true),
        ] as [([String], String, Bool)])
    func allows(allowed: [String], host: String, expected: Bool) {
        #expect(HostPolicy(allowed: allowed).allows(host: Array(host.utf8)) == expected)
    }
}
