import Testing

@testable import BelfrySystem

/// Nothing has come where something must.
private struct Absent: Error {}

/// A connection of this process to itself, or of another program to it.
private struct Pair: ~Copyable {
    let client: Socket
    let server: Socket
    let pair: SocketPair
    private let listener: Socket

    init(_ address: String) throws {
        let wanted = try #require(SocketAddress(address))
        let (listener, bound) = try Socket.listen(at: wanted)
        let client = try Socket.connect(to: bound)
        guard let (server, peer) = try listener.accept() else { throw Absent() }
        let address = try server.ownAddress()
        self.listener = listener
        self.client = client
        self.server = server
        pair = SocketPair(client: peer, server: address)
    }

    func end() {
        server.close()
        listener.close()
    }
}

private let isRootWithSetpriv =
    SocketOwner.ownUser == 0 && (try? WholeFile.isReadableByAll(path: "/usr/bin/setpriv")) == true
private let own = SocketOwner.user(SocketOwner.ownUser)

@Suite("SocketOwners (sock_diag(7), proc(5))")
struct SocketOwnersTests {
    @Test(
        "the owner of a socket of this process is its user, in each way and by each protocol",
        arguments: [SocketOwners.Means.netlink, .listing], ["127.0.0.1:0", "[::1]:0"])
    func own(means: SocketOwners.Means, address: String) throws {
        let owners = SocketOwners([means])
        #expect(owners.means == means)
        let pair = try Pair(address)
        defer { pair.end() }
        #expect(owners.owner(of: pair.pair) == BelfrySystemTests.own)
        // Half of a connection that is closed still has its process.
        try pair.client.shutdownWriting()
        #expect(owners.owner(of: pair.pair) == BelfrySystemTests.own)
        pair.client.close()
        #expect(owners.owner(of: pair.pair) == .nobody)
    }

    @Test(
        "a socket that is gone is nobody's, also where its end waits or its port listens again",
        arguments: [SocketOwners.Means.netlink, .listing])
    func gone(means: SocketOwners.Means) throws {
        let owners = SocketOwners([means])
        let pair = try Pair("127.0.0.1:0")
        pair.client.close()
        pair.end()
        // TIME_WAIT shows user 0.
        #expect(owners.owner(of: pair.pair) == .nobody)
        // A listener at the port of the client that is gone.
        let (listener, address) = try Socket.listen(at: .loopback(port: 0))
        defer { listener.close() }
        let other = SocketPair(client: address, server: pair.pair.server)
        #expect(owners.owner(of: other) == .nobody)
        let never = SocketPair(client: .loopback(port: 1), server: .loopback(port: 2))
        #expect(owners.owner(of: never) == .nobody)
    }

    @Test(
        "an address of IPv4 that is written as one of IPv6 is the same connection",
        arguments: [SocketOwners.Means.netlink, .listing])
    func mapped(means: SocketOwners.Means) throws {
        let (listener, address) = try Socket.listen(at: .loopback(port: 0))
        defer { listener.close() }
        let client = try Socket.connect(
            to: try #require(SocketAddress("[::ffff:127.0.0.1]:\(address.port)")))
        defer { client.close() }
        let accepted = try #require(try listener.accept())
        defer { accepted.socket.close() }
        #expect(!accepted.peer.isIPv6)
        let pair = SocketPair(client: accepted.peer, server: address)
        #expect(SocketOwners([means]).owner(of: pair) == BelfrySystemTests.own)
    }

    @Test(
        "the owner of a socket of another user's program is that user",
        .enabled(if: isRootWithSetpriv),
        arguments: [SocketOwners.Means.netlink, .listing])
    func other(means: SocketOwners.Means) throws {
        let (listener, address) = try Socket.listen(at: .loopback(port: 0))
        defer { listener.close() }
        let script = "exec 3<>/dev/tcp/127.0.0.1/\(address.port); read -r -u 3 line"
        let program = try ChildProcess(
            [
                "/usr/bin/setpriv", "--reuid=33", "--regid=33", "--clear-groups", "/bin/bash",
                "-c", script,
            ], environment: [:], input: [])
        let epoll = try Epoll()
        try epoll.watch(listener.rawValue, token: 1, for: .readable)
        var ready: [ReadyEntry] = []
        try epoll.wait(timeoutNanoseconds: 60_000_000_000, into: &ready)
        let accepted = try listener.accept()
        let connection = try #require(accepted)
        let pair = SocketPair(client: connection.peer, server: address)
        #expect(SocketOwners([means]).owner(of: pair) == .user(33))
        connection.socket.close()
        _ = try program.wait(byteLimit: 1_000)
    }

    @Test("where no way works nothing is told")
    func none() throws {
        let owners = SocketOwners([])
        #expect(owners.means == .none)
        let pair = try Pair("127.0.0.1:0")
        defer { pair.end() }
        #expect(owners.owner(of: pair.pair) == .untold)
        pair.client.close()
    }

    @Test(
        "a namespace of users numbers all of them, or not",
        arguments: [
            ("         0          0 4294967295\n", true), ("0 0 4294967295\n", true),
            ("         0       1000          1\n", false), ("", false), ("0 0 4294967294\n", false),
            ("0 0 4294967295\n1 1 1\n", false), ("\u{0}", false),
        ])
    func namespaces(map: String, expected: Bool) {
        #expect(SocketOwners.numbersAllUsers(Array(map.utf8)) == expected)
    }
}

@Suite("SocketDiagnosis (sock_diag(7))")
struct SocketDiagnosisTests {
    private static let pair = SocketPair(
        client: .loopback(port: 0x1234), server: .loopback(port: 8080))

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// An answer as the kernel gives it.
    private static func answer(
        number: UInt32 = 7, kind: UInt16 = 20, state: UInt8 = 1, client: UInt16 = 0x1234,
        user: UInt32 = 33, inode: UInt32 = 9, byteCount: UInt32 = 88
    ) -> [UInt8] {
        let head =
            bytes(byteCount) + bytes(kind) + bytes(UInt16(0)) + bytes(number) + bytes(0 as UInt32)
        let ports = [UInt8(client >> 8), UInt8(truncatingIfNeeded: client), 0x1F, 0x90]
        return head + [2, state, 0, 0] + ports + [UInt8](repeating: 0, count: 44 + 12)
            + bytes(user) + bytes(inode)
    }

    private static func owner(_ bytes: [UInt8]) -> SocketOwner? {
        SocketDiagnosis.owner(in: bytes.span, of: pair, number: 7)
    }

    @Test("a question is one for one socket, and no listing")
    func question() {
        let words = SocketDiagnosis.question(about: Self.pair, number: 7)
        let bytes = words.indices.flatMap { Self.bytes(words[$0]) }
        #expect(bytes.count == 72)
        #expect(Array(bytes[4..<8]) == [20, 0, 1, 0])
        #expect(Array(bytes[16..<20]) == [2, 6, 0, 0])
        #expect(Array(bytes[24..<28]) == [0x12, 0x34, 0x1F, 0x90])
        #expect(Array(bytes[28..<32]) == [127, 0, 0, 1])
        #expect(Array(bytes[44..<48]) == [127, 0, 0, 1])
    }

    @Test(
        "a socket is a user's while it is connected and has an inode",
        arguments: 0...13 as ClosedRange<UInt8>)
    func states(state: UInt8) {
        let isConnected = [1, 4, 5, 8, 9, 11].contains(state)
        #expect(Self.owner(Self.answer(state: state)) == (isConnected ? .user(33) : .nobody))
        #expect(Self.owner(Self.answer(state: state, user: 0, inode: 0)) == .nobody)
    }

    @Test("an answer to another question, of another kind or too short is none")
    func foreign() {
        #expect(Self.owner(Self.answer()) == .user(33))
        #expect(Self.owner(Self.answer(number: 6)) == nil)
        #expect(Self.owner(Self.answer(kind: 3)) == nil)
        #expect(Self.owner(Self.answer(byteCount: 87)) == nil)
        #expect(Self.owner(Self.answer(byteCount: 89)) == nil)
        #expect(Self.owner(Self.answer(byteCount: .max)) == nil)
        #expect(Self.owner(Self.answer(kind: 2)) == .nobody)
        #expect(Self.owner(Self.answer(client: 0x1235)) == .nobody)
        let whole = Self.answer()
        for count in 0..<whole.count {
            let owner = Self.owner(Array(whole[..<count]))
            #expect(owner == nil, "\(count) bytes")
        }
    }
}

@Suite("SocketListing (proc(5))")
struct SocketListingTests {
    private static let pair = SocketPair(
        client: .loopback(port: 0xB2AD), server: .loopback(port: 8080))
    private static let line =
        "   1: 0100007F:B2AD 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  "
        + "  33        0 25764 1 000000007f39fe90 100 0 0 10 0   \n"

    private static func owner(
        _ text: String, _ listing: SocketListing = .ipv4, of pair: SocketPair = pair
    ) -> SocketOwner? {
        let bytes = Array(text.utf8)
        return listing.owner(of: pair, in: bytes.span)
    }

    @Test("the line of the client's end has the user")
    func found() throws {
        #expect(Self.owner(Self.line) == .user(33))
        let head = "  sl  local_address rem_address   st tx_queue rx_queue\n"
        let back = Self.line.replacing(
            "0100007F:B2AD 0100007F:1F90", with: "0100007F:1F90 0100007F:B2AD")
        #expect(Self.owner(head + back) == nil)
        #expect(Self.owner(head + back + Self.line + back) == .user(33))
        let mapped = Self.line.replacing("0100007F", with: "0000000000000000FFFF00000100007F")
        #expect(Self.owner(mapped, .ipv6) == .user(33))
        #expect(Self.owner(mapped) == nil)
        let pair = SocketPair(
            client: try #require(SocketAddress("[::1]:45741")),
            server: try #require(SocketAddress("[::1]:8080")))
        let real = Self.line.replacing("0100007F", with: "00000000000000000000000001000000")
        #expect(Self.owner(real, .ipv6, of: pair) == .user(33))
    }

    @Test(
        "a socket that waits, listens or has no inode is nobody's",
        arguments: [(" 01 ", " 06 "), (" 01 ", " 0A "), (" 01 ", " 02 "), (" 25764 ", " 0 ")])
    func nobody(text: String, other: String) {
        #expect(Self.owner(Self.line.replacing(text, with: other)) == .nobody)
    }

    @Test("text that is no listing has nobody's line, wherever it breaks off")
    func hostile() {
        for count in 0..<Self.line.utf8.count {
            let broken = String(Self.line.prefix(count))
            #expect(Self.owner(broken) == nil, "\(count) bytes")
            _ = Self.owner(broken + "\n")
        }
        for text in ["", "\n\n\n", ":\n", "::::\n", "  1:", String(repeating: ":", count: 9_999)] {
            #expect(Self.owner(text) == nil)
        }
        #expect(Self.owner(Self.line.replacing("  33 ", with: "  -1 ")) == nil)
        #expect(Self.owner(Self.line.replacing("  33 ", with: "  4294967296 ")) == nil)
        #expect(Self.owner(Self.line.replacing(" 01 ", with: " 101 ")) == nil)
    }

    @Test("of a file no more than the limit is read")
    func limit() throws {
        let path = "/proc/self/status"
        let whole = try WholeFile.read(path: path, byteLimit: 1 << 20)
        #expect(try WholeFile.readBeginning(path: path, byteLimit: 100).count == 100)
        #expect(
            try WholeFile.readBeginning(path: path, byteLimit: 1 << 20).count >= whole.count / 2)
        #expect(throws: SystemCallError.self) {
            try WholeFile.readBeginning(path: "/proc/self/no-such-file", byteLimit: 1)
        }
    }
}
