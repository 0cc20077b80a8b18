import BelfrySystem
import Testing

@Suite("Hosts by address or name")
struct EndpointTests {
    @Test(
        "an address stays one, a name is kept to be looked up, and a port may be left out",
        arguments: [
            ("10.0.0.1", "10.0.0.1", 80, true), ("10.0.0.1:1", "10.0.0.1", 1, true),
            ("[::1]:8080", "::1", 8080, true), ("localhost", "127.0.0.1", 80, true),
            ("broker-1.example:65535", "broker-1.example", 65_535, false),
            (String(repeating: "a", count: 253), String(repeating: "a", count: 253), 80, false),
        ] as [(String, String, UInt16, Bool)])
    func good(text: String, host: String, port: UInt16, isAddress: Bool) throws {
        let endpoint = try #require(Endpoint(text, defaultPort: 80))
        #expect(endpoint.host == host)
        #expect(endpoint.port == port)
        #expect((endpoint.address != nil) == isAddress)
    }

    @Test(
        "what is neither is told apart",
        arguments: [
            "", ":80", "a:b", "a:65536", "a:1:2", "a_b", "a b", "a/b", "\u{E4}",
            String(repeating: "a", count: 254),
        ])
    func bad(text: String) {
        #expect(Endpoint(text, defaultPort: 80) == nil)
    }
}
