import BelfrySystem
import Testing

@Suite("SocketAddress")
struct SocketAddressTests {
    @Test(
        "an address with a port is read and written back the same",
        arguments: [
            "127.0.0.1:8080", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:8080", "[::]:0",
            "[2001:db8::8:800:200c:417a]:443",
        ])
    func roundTrip(_ text: String) throws {
        let address = try #require(SocketAddress(text))
        #expect(address.description == text)
    }

    @Test("localhost is 127.0.0.1")
    func localhost() throws {
        let address = try #require(SocketAddress("localhost:8080"))
        #expect(address == SocketAddress.loopback(port: 8080))
    }

    @Test(
        "what is not an address with a port is refused",
        arguments: [
            "", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1",
            "127.0.0.1:-1", "127.1:80", "256.0.0.1:80", "[::1]", "[::1]:", "[]:80", "::1:80",
            "[::1:80", "[127.0.0.1]:80", "example.org:80", "127.0.0.1\u{0}:80", "127.0.0.1:000080",
        ])
    func refused(_ text: String) {
        #expect(SocketAddress(text) == nil)
    }

    @Test(
        "an address tells whether only this machine reaches it",
        arguments: [
            ("127.0.0.1:1", true), ("127.255.255.255:1", true), ("128.0.0.0:1", false),
            ("0.0.0.0:1", false), ("[::1]:1", true), ("[::2]:1", false), ("[::]:1", false),
            ("[::ffff:127.0.0.1]:1", true), ("[::ffff:10.0.0.1]:1", false), ("[1::1]:1", false),
        ])
    func loopback(_ text: String, _ expected: Bool) throws {
        #expect(try #require(SocketAddress(text)).isLoopback == expected)
    }
}
