import TestCertificates
import Testing

@testable import BelfryTLS

@Suite("TLSSession (RFC 8446, RFC 5246)")
struct TLSSessionTests {
    let authority = TestAuthority()
    let serverContext: TLSContext
    let clientContext: TLSContext

    init() throws {
        let identity = authority.issue()
        serverContext = try TLSContext(
            certificateChain: identity.certificate, privateKey: identity.key)
        clientContext = try TLSContext(authorities: .pem(authority.certificate))
    }

    @Test(
        "any split of the bytes gives the same plaintext",
        arguments: [1, 2, 3, 5, 7, 64, 1_000, 100_000])
    func splits(pieceByteCount: Int) throws {
        let pair = Pair(serverContext, clientContext)
        pair.pieceByteCount = pieceByteCount
        try pair.run()
        #expect(pair.server.isOpen)
        #expect(pair.client.isOpen)
        #expect(pair.server.version == "TLSv1.3")
        #expect(Speaks.hasProtocol(pair.server))
        let long = String(repeating: "0123456789", count: 4_000)
        try pair.sendFromClient("hello")
        try pair.sendFromServer(long)
        try pair.run()
        #expect(String(decoding: pair.serverGot, as: UTF8.self) == "hello")
        #expect(String(decoding: pair.clientGot, as: UTF8.self) == long)
        pair.client.close(output: &pair.toServer)
        try pair.run()
        #expect(pair.serverEvents.last == .closed)
        pair.server.close(output: &pair.toClient)
        try pair.run()
        #expect(pair.clientEvents.last == .closed)
    }

    @Test("a request that comes with the end of the handshake is not lost, and rooms may be small")
    func early() throws {
        let pair = Pair(serverContext, clientContext)
        pair.roomByteCount = 3
        try pair.carryToServer()
        try pair.carryToClient()
        #expect(pair.client.isOpen)
        try pair.sendFromClient("first")
        try pair.sendFromClient("second")
        pair.client.close(output: &pair.toServer)
        try pair.carryToServer()
        #expect(String(decoding: pair.serverGot, as: UTF8.self) == "firstsecond")
        #expect(pair.serverEvents.first == .handshakeDone)
        #expect(pair.serverEvents.last == .closed)
        #expect(pair.serverEvents.filter { $0 == .closed }.count == 1)
        // Bytes behind the end are not looked at.
        pair.toServer = [1, 2, 3]
        try pair.carryToServer()
        #expect(pair.server.inputHasEnded)
    }

    @Test("all that is sent at once leaves in as few records as there can be")
    func records() throws {
        let pair = Pair(serverContext, clientContext)
        try pair.run()
        for (byteCount, recordCount) in [(1, 1), (16_384, 1), (16_385, 2), (40_000, 3)] {
            pair.toClient = []
            try pair.server.send(
                [UInt8](repeating: 7, count: byteCount).span, output: &pair.toClient)
            #expect(Self.recordLengths(pair.toClient).count == recordCount)
            try pair.carryToClient()
        }
        pair.clientGot = []
        try pair.server.send([UInt8]().span, output: &pair.toClient)
        #expect(pair.toClient.isEmpty)
    }

    static func recordLengths(_ bytes: [UInt8]) -> [Int] {
        var (lengths, start): ([Int], Int) = ([], 0)
        while start + 5 <= bytes.count {
            lengths.append(Int(bytes[start + 3]) << 8 | Int(bytes[start + 4]))
            start += 5 + (lengths.last ?? 0)
        }
        return lengths
    }

    @Test("a client that has been there shortens the handshake, by a ticket", arguments: [12, 13])
    func resumption(version: Int) throws {
        Speaks.only(version, clientContext)
        let first = Pair(serverContext, clientContext)
        try first.run()
        #expect(!first.server.isResumed)
        let resumption = try #require(first.client.resumption)
        let second = Pair(serverContext, clientContext, resuming: resumption)
        try second.run()
        #expect(second.server.isResumed)
        #expect(second.client.isResumed)
        try second.sendFromClient("again")
        try second.run()
        #expect(String(decoding: second.serverGot, as: UTF8.self) == "again")
        // A server with another certificate has other ticket keys.
        let identity = authority.issue()
        let renewed = try TLSContext(
            certificateChain: identity.certificate, privateKey: identity.key)
        let third = Pair(renewed, clientContext, resuming: resumption)
        try third.run()
        #expect(!third.server.isResumed)
    }

    @Test("TLS 1.2 and 1.3 are spoken, 1.1 is refused with protocol_version")
    func versions() throws {
        for (version, name) in [(12, "TLSv1.2"), (13, "TLSv1.3")] {
            let context = try TLSContext(authorities: .pem(authority.certificate))
            Speaks.only(version, context)
            let pair = Pair(serverContext, context)
            try pair.run()
            #expect(pair.server.version == name)
        }
        let old = try TLSContext(authorities: .pem(authority.certificate))
        Speaks.only(11, old)
        let pair = Pair(serverContext, old)
        #expect(throws: TLSError.self) { try pair.run() }
        // An alert record: fatal, protocol_version (RFC 8446 §6).
        #expect(pair.toClient.suffix(2) == [2, 70])
        #expect(!pair.server.isOpen)
    }

    @Test("a client without a cipher or a group of ours is refused with handshake_failure")
    func ciphers() throws {
        for (ciphers, groups) in [("AES128-GCM-SHA256", "P-256"), ("ECDHE+AESGCM", "P-521")] {
            let context = try TLSContext(authorities: .pem(authority.certificate))
            Speaks.only(12, context)
            Speaks.set(ciphers: ciphers, groups: groups, context)
            let pair = Pair(serverContext, context)
            #expect(throws: TLSError.self) { try pair.run() }
            #expect(pair.toClient.suffix(2) == [2, 40])
        }
    }

    @Test("ALPN: http/1.1 is picked of several, h2 alone is refused, and none is fine")
    func protocols() throws {
        for (offer, isPicked) in [(["h2", "http/1.1"], true), (["http/1.1"], true), ([], false)] {
            let context = try TLSContext(authorities: .pem(authority.certificate))
            Speaks.offer(offer, context)
            let pair = Pair(serverContext, context)
            try pair.run()
            #expect(Speaks.hasProtocol(pair.server) == isPicked)
        }
        for offer in [["h2"], ["http/1.0"], ["http/1.1x", "h2"]] {
            let context = try TLSContext(authorities: .pem(authority.certificate))
            Speaks.offer(offer, context)
            let pair = Pair(serverContext, context)
            #expect(throws: TLSError.self) { try pair.run() }
            // Fatal, no_application_protocol (RFC 7301 §3.2).
            #expect(pair.toClient.suffix(2) == [2, 120])
        }
    }

    @Test("renegotiation is refused, and the connection stays")
    func renegotiation() throws {
        Speaks.only(12, clientContext)
        let pair = Pair(serverContext, clientContext)
        try pair.run()
        Speaks.renegotiate(pair.client)
        try Pair.feed(
            [], pair.client, 1, output: &pair.toServer, got: &pair.clientGot,
            events: &pair.clientEvents)
        let hello = pair.toServer
        #expect(!hello.isEmpty)
        try pair.carryToServer()
        // A warning, and no ServerHello.
        #expect(Self.recordLengths(pair.toClient).count == 1)
        #expect(pair.toClient.first == 21)
    }

    // MARK: The client's side

    @Test("a client takes no certificate for another name, of a stranger, or out of time")
    func trust() throws {
        let stranger = try TLSContext(authorities: .pem(TestAuthority().certificate))
        for (context, host) in [
            (clientContext, "other.example"), (clientContext, "127.0.0.2"), (stranger, "localhost"),
        ] {
            let pair = Pair(serverContext, context, host: host)
            #expect {
                try pair.run()
            } throws: { error in
                if case .untrustedPeer = error as? TLSError { true } else { false }
            }
            // The server hears of it.
            #expect(throws: TLSError.self) { try pair.carryToServer() }
        }
        for host in ["localhost", "127.0.0.1"] {
            let pair = Pair(serverContext, clientContext, host: host)
            try pair.run()
            #expect(pair.client.isOpen)
        }
        for seconds in [-7_200 ... -3_600, 3_600...7_200] {
            let identity = authority.issue(seconds: seconds)
            let context = try TLSContext(
                certificateChain: identity.certificate, privateKey: identity.key)
            #expect(throws: TLSError.self) { try Pair(context, clientContext).run() }
        }
    }

    // MARK: Hostile bytes

    @Test(
        "plain HTTP is told apart",
        arguments: ["GET / HTTP/1.1\r\n", "POST /v1", "HEAD /", "PUT / HTTP"])
    func plainHTTP(text: String) throws {
        for pieceByteCount in [1, 100] {
            let pair = Pair(serverContext, clientContext)
            pair.toServer = Array(text.utf8)
            pair.pieceByteCount = pieceByteCount
            #expect(throws: TLSError.plainHTTP) { try pair.run() }
        }
    }

    @Test("garbage ends the handshake, and the error stays")
    func garbage() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            let pair = Pair(serverContext, clientContext)
            // Longer than a handshake may be: some bytes look like the start of a long record.
            pair.toServer = (0..<70_000).map { _ in generator.next() }
            // Some of it begins as a record would.
            if Bool.random(using: &generator) {
                pair.toServer.replaceSubrange(0..<5, with: [22, 3, 1, 0, 200])
            }
            #expect(throws: TLSError.self) { try pair.run() }
            pair.toServer = [1]
            #expect(throws: TLSError.self) { try pair.carryToServer() }
            #expect(throws: TLSError.self) { try pair.sendFromServer("x") }
            let before = pair.toClient
            pair.server.close(output: &pair.toClient)
            #expect(pair.toClient == before)
        }
    }

    @Test("a handshake is read up to its limit, and not past it")
    func handshakeLimit() throws {
        // A ClientHello that says it is 100,000 bytes long, in records of 16 KiB.
        var hello: [UInt8] = [1, 1, 0x86, 0xA0, 3, 3] + [UInt8](repeating: 0, count: 100_000)
        var records: [UInt8] = []
        while !hello.isEmpty {
            let part = hello.prefix(16_000)
            records += [22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 255)] + part
            hello.removeFirst(part.count)
        }
        let limit = serverContext.handshakeByteLimit
        #expect(limit == 65_536)
        let pair = Pair(serverContext, clientContext)
        pair.toServer = Array(records[..<(limit - 1)])
        try pair.carryToServer()
        #expect(pair.serverEvents.isEmpty)
        pair.toServer = [records[limit - 1]]
        #expect(throws: TLSError.handshakeTooLong(limit: limit)) { try pair.carryToServer() }
    }

    @Test("a record that was changed on its way ends the connection, with an alert")
    func tampered() throws {
        let pair = Pair(serverContext, clientContext)
        try pair.run()
        try pair.sendFromClient("first")
        let good = pair.toServer.count
        try pair.sendFromClient("second")
        pair.toServer[good + 8] ^= 1
        #expect(throws: TLSError.self) { try pair.carryToServer() }
        // The bytes before it were handed out.
        #expect(String(decoding: pair.serverGot, as: UTF8.self) == "first")
        #expect(!pair.toClient.isEmpty)
        #expect(throws: TLSError.self) { try pair.sendFromServer("x") }
    }

    @Test("nothing is sent before the handshake is done, and nothing after the end")
    func order() throws {
        let pair = Pair(serverContext, clientContext)
        #expect(throws: TLSError.notOpen) { try pair.sendFromServer("x") }
        pair.server.close(output: &pair.toClient)
        #expect(pair.toClient.isEmpty)
        try pair.run()
        pair.server.close(output: &pair.toClient)
        let end = pair.toClient
        #expect(Self.recordLengths(end).count == 1)
        pair.server.close(output: &pair.toClient)
        #expect(pair.toClient == end)
        #expect(throws: TLSError.notOpen) { try pair.sendFromServer("x") }
        // The other half is still open.
        try pair.sendFromClient("late")
        try pair.run()
        #expect(String(decoding: pair.serverGot, as: UTF8.self) == "late")
        #expect(pair.clientEvents.last == .closed)
    }
}
