import BelfryAccess
import Testing

@Suite("NetworkAddress and Network")
struct NetworkAddressTests {
    @Test(
        "addresses are read in one way only",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"),
            ("255.255.255.255", "255.255.255.255"),
            ("::1", "0:0:0:0:0:0:0:1"), ("::", "0:0:0:0:0:0:0:0"), ("[::1]", "0:0:0:0:0:0:0:1"),
            ("2001:DB8::8:800:200c:417a", "2001:db8:0:0:8:800:200c:417a"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1::8", "1:0:0:0:0:0:0:8"),
            ("fe80::", "fe80:0:0:0:0:0:0:0"),
            ("::ffff:192.0.2.1", "192.0.2.1"), ("::ffff:c000:201", "192.0.2.1"),
            ("64:ff9b::192.0.2.1", "64:ff9b:0:0:0:0:c000:201"),
        ])
    func good(text: String, description: String) {
        #expect(NetworkAddress(Array(text.utf8))?.description == description)
    }

    @Test(
        "anything else is no address",
        arguments: [
            "", "1", "192.0.2", "192.0.2.1.5", "192.0.2.256", "192.0.2.01", "192.0.2.", ".0.2.1",
            "192.0.2.1 ", "0x7f.0.0.1", "2130706433", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
            "1::2::3", ":::", ":1", "1:", "12345::", "g::", "fe80::1%eth0", "[::1", "::1]",
            "[192.0.2.1]",
            "[]", "::192.0.2.1:1", "1:2:3:4:5:6:7::8", "192.0.2.1:80", "unknown", "_hidden",
            "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa",
        ])
    func bad(text: String) {
        #expect(NetworkAddress(Array(text.utf8)) == nil)
    }

    @Test(
        "an address is counted by itself, an IPv6 one by its /64",
        arguments: [
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true), ("2001:db8::1", "2001:db8::ffff:2", true),
            ("2001:db8::1", "2001:db8:0:1::1", false), ("::1", "0.0.0.1", false),
        ])
    func counted(one: String, other: String, isSame: Bool) throws {
        let one = try #require(NetworkAddress(Array(one.utf8)))
        let other = try #require(NetworkAddress(Array(other.utf8)))
        #expect((one.counted == other.counted) == isSame)
    }

    @Test(
        "a network has the addresses that begin with its bits",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1/32", "192.0.2.1", true),
            ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "2001:db8::1", true), ("::/0", "192.0.2.1", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::", false),
            ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
            ("2001:db8::/65", "2001:db8:0:0:8000::1", false),
            ("2001:db8::1/128", "2001:db8::1", true), ("2001:db8::/64", "2001:db8:0:1::", false),
        ])
    func networks(network: String, address: String, isInside: Bool) throws {
        let network = try #require(Network(network))
        let address = try #require(NetworkAddress(Array(address.utf8)))
        #expect(network.contains(address) == isInside)
    }

    @Test(
        "a network with bits behind its prefix, or a prefix that is too long, is refused",
        arguments: [
            "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "/8",
            "2001:db8::1/32", "::/129", "example", "", "10.0.0.0/+8", "10.0.0.0/0008",
        ])
    func badNetworks(text: String) {
        #expect(Network(text) == nil)
    }
}
