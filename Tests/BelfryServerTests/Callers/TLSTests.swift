import BelfryAccess
import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWebSocket
import TestCertificates
import Testing

@testable import BelfryServer

@Suite("TLS (decision 32)")
struct TLSTests {
    let authority = TestAuthority()
    let context: TLSContext
    let client: TLSContext

    init() throws {
        let identity = authority.issue()
        context = try TLSContext(
            certificateChain: identity.certificate, privateKey: identity.key)
        client = try TLSContext(authorities: .pem(authority.certificate))
    }

    private static let live = HTTPPeer.text("GET", "/livez")

    @Test("requests are answered, several on a connection, and several at once")
    func requests() throws {
        let broker = try Broker(certificate: context)
        let peer = try SecurePeer(broker, client)
        for _ in 0..<3 {
            let answer = try peer.exchange(Self.live)
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.hasSuffix("\r\n\r\nok\n"))
        }
        let writes = peer.peer.total.writeCount
        let answers = try peer.exchange(Self.live + Self.live + Self.live)
        #expect(answers.split(separator: "HTTP/1.1 200").count == 3)
        #expect(peer.peer.total.writeCount == writes + 1)
        // A plain listener beside it is as ever.
        #expect(try broker.get("/livez").status == 200)
        let metrics = try broker.get("/metrics").text
        #expect(metrics.contains("belfry_connections_accepted_total 3\n"))
        #expect(broker.nodes[0].server.outbox.counters.tlsHandshakes == 1)
    }

    @Test("an observer over TLS gets what a plain poster posts", arguments: [1, 2])
    func observer(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount, certificate: context)
        let peer = try SecurePeer(broker, client, loop: loopCount - 1)
        let stream = try peer.exchange(HTTPPeer.text("GET", "/v1/events?name=a"))
        #expect(stream.contains("text/event-stream"))
        let writes = peer.peer.total.writeCount
        peer.peer.send([])
        for _ in 0..<3 { try broker.post(name: "a") }
        try broker.post(name: "b")
        let text = try peer.take()
        #expect(text.split(separator: "\"name\":\"a\"").count == 4)
        #expect(peer.peer.total.writeCount == writes + 3)
        peer.peer.close()
        try broker.crank()
        #expect(
            broker.nodes[loopCount - 1].server.callers.entrance.tls?.session(
                of: ConnectionID(index: 0, generation: 0)) == nil)
    }

    @Test("large content comes and goes whole")
    func large() throws {
        let broker = try Broker(certificate: context) { $0.hasDebugEndpoints = true }
        let peer = try SecurePeer(broker, client)
        let content = String(repeating: "0123456789abcdef", count: 60_000)
        let answer = try peer.exchange(HTTPPeer.text("POST", "/debug/echo", content))
        #expect(answer.hasSuffix("\r\n\r\n" + content))
    }

    @Test("the page is not compressed over TLS, where scanners would take it for BREACH")
    func page() throws {
        let broker = try Broker(certificate: context)
        let peer = try SecurePeer(broker, client)
        let fields = ["Accept: text/html, */*", "Accept-Encoding: gzip"]
        let page = try peer.exchange(HTTPPeer.text("HEAD", "/", fields: fields))
        #expect(page.contains("text/html"))
        #expect(!page.contains("Content-Encoding"))
        #expect(page.contains("Vary: Accept-Encoding"))
        let file = try peer.exchange(HTTPPeer.text("HEAD", "/openapi.yaml", fields: fields))
        #expect(file.contains("Content-Encoding: gzip"))
    }

    @Test("an answer that closes is followed by close_notify and the end of the connection")
    func closing() throws {
        let broker = try Broker(certificate: context)
        let peer = try SecurePeer(broker, client)
        let answer = try peer.exchange(
            HTTPPeer.text("GET", "/livez", fields: ["Connection: close"]))
        #expect(answer.hasSuffix("ok\n"))
        #expect(peer.sawEnd)
        #expect(peer.peer.sawEndOfOutput)
    }

    @Test("what a client asked for before it ended its session is answered")
    func clientEnds() throws {
        let broker = try Broker(certificate: context)
        for endsSocket in [false, true] {
            let peer = try SecurePeer(broker, client)
            try peer.put(Self.live)
            peer.putEnd()
            if endsSocket { peer.peer.halfClose() }
            try broker.crank()
            #expect(try peer.take().hasSuffix("ok\n"))
            #expect(peer.sawEnd)
            #expect(peer.peer.isClosed)
        }
        // The end of the connection without that of the session is an end too.
        let peer = try SecurePeer(broker, client)
        try peer.put(Self.live)
        peer.peer.halfClose()
        try broker.crank()
        #expect(try peer.take().hasSuffix("ok\n"))
        #expect(peer.peer.isClosed)
    }

    // MARK: The handshake

    @Test("the head timeout covers the handshake, however it dribbles")
    func headTimeout() throws {
        let broker = try Broker(certificate: context)
        let silent = try SecurePeer(broker, client, shakesHands: false)
        let slow = try SecurePeer(broker, client, shakesHands: false)
        let idle = try SecurePeer(broker, client)
        let hello = slow.hello()
        for second in 0..<9 {
            slow.peer.send([hello[second]])
            try broker.advance(by: .seconds(1))
            #expect(!slow.peer.sawEndOfOutput)
        }
        try broker.advance(by: .milliseconds(1_300))
        for peer in [silent, slow, idle] { #expect(peer.peer.sawEndOfOutput) }
        #expect(slow.peer.received.isEmpty)
        _ = try idle.take()
        #expect(idle.sawEnd)
    }

    @Test("plain HTTP is told where it is, and closed")
    func plainHTTP() throws {
        let broker = try Broker(certificate: context)
        let peer = try SecurePeer(broker, client, shakesHands: false)
        peer.peer.send(Self.live.utf8)
        try broker.crank()
        let answer = String(decoding: peer.peer.received, as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(answer.contains("application/problem+json"))
        #expect(peer.peer.sawEndOfOutput)
        #expect(broker.nodes[0].server.outbox.counters.tlsFailures == 1)
    }

    @Test("garbage is answered with an alert at most, closed and counted")
    func garbage() throws {
        let broker = try Broker(certificate: context)
        let peer = try SecurePeer(broker, client, shakesHands: false)
        peer.peer.send([22, 3, 1, 0, 5, 1, 2, 3, 4, 5])
        try broker.crank()
        #expect(peer.peer.received.first == 21)
        #expect(peer.peer.sawEndOfOutput)
        #expect(broker.nodes[0].server.outbox.counters.tlsFailures == 1)
    }

    @Test("a record that was changed ends the connection, and its client with it")
    func tampered() throws {
        let broker = try Broker(certificate: context)
        let peer = try SecurePeer(broker, client)
        _ = try peer.exchange(HTTPPeer.text("GET", "/v1/events?name=a"))
        #expect(try broker.get("/v1/observers").json["observers"].elements.count == 1)
        peer.peer.send([23, 3, 3, 0, 20] + [UInt8](repeating: 9, count: 20))
        try broker.crank()
        #expect(peer.peer.sawEndOfOutput)
        #expect(try broker.get("/v1/observers").json["observers"].elements.isEmpty)
        #expect(broker.nodes[0].server.outbox.counters.tlsFailures == 0)
    }

    @Test("one connection too many is closed before it costs a handshake")
    func limit() throws {
        let broker = try Broker(connectionLimit: 1, certificate: context)
        let peer = try SecurePeer(broker, client)
        let late = try SecurePeer(broker, client, shakesHands: false)
        #expect(late.peer.isClosed)
        #expect(late.peer.received.isEmpty)
        #expect(try peer.exchange(Self.live).hasSuffix("ok\n"))
    }

    // MARK: What is said over it

    @Test("over TLS the own origin is the one of https, on the same port the one of http is not")
    func origin() throws {
        let broker = try Broker(certificate: context) {
            $0.listenAddresses = [SocketAddress("192.0.2.1:80") ?? .loopback(port: 0)]
            $0.allowsAnonymous = true
            $0.anonymousGrants = .loopbackDefault
            $0.allowedHosts = ["bell.example"]
        }
        let peer = try SecurePeer(broker, client)
        for (origin, isAllowed) in [("https://bell.example", true), ("http://bell.example", false)]
        {
            let fields = ["Host: bell.example", "Origin: \(origin)"]
            let answer = try peer.exchange(
                HTTPPeer.text("POST", "/v1/channels/a", "", fields: fields))
            #expect(answer.hasPrefix("HTTP/1.1 \(isAllowed ? 200 : 403)"))
            let plain = try broker.request("POST", "/v1/channels/a", "", fields: fields)
            #expect(plain.status == (isAllowed ? 403 : 200))
        }
    }

    @Test("a WebSocket is opened, spoken and closed")
    func webSocket() throws {
        let broker = try Broker(certificate: context)
        let peer = try SecurePeer(broker, client)
        let opening = try peer.exchange(
            HTTPPeer.text("GET", "/v1/ws", fields: SocketPeer.openingFields))
        #expect(opening.hasPrefix("HTTP/1.1 101"))
        #expect(opening.contains("belfry.welcome"))
        try broker.signal(15)
        let end = try peer.take()
        #expect(end.contains("belfry.draining"))
        #expect(peer.sawEnd)
        #expect(peer.peer.sawEndOfOutput)
    }

    @Test("a renewed certificate is for new connections, and old ones go on", arguments: [1, 2])
    func renewal(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount, certificate: context)
        let old = try (0..<loopCount).map { try SecurePeer(broker, client, loop: $0) }
        let other = TestAuthority()
        let identity = other.issue()
        let renewed = try TLSContext(
            certificateChain: identity.certificate, privateKey: identity.key)
        for mailbox in broker.shared.mailboxes { _ = mailbox.post(.renew(renewed)) }
        try broker.crank()
        let otherClient = try TLSContext(authorities: .pem(other.certificate))
        for loop in 0..<loopCount {
            let peer = try SecurePeer(broker, otherClient, loop: loop)
            #expect(try peer.exchange(Self.live).hasSuffix("ok\n"))
            #expect(throws: TLSError.self) { try SecurePeer(broker, client, loop: loop) }
        }
        for peer in old { #expect(try peer.exchange(Self.live).hasSuffix("ok\n")) }
    }
}

@Suite("TLS: what is configured")
struct TLSConfigurationTests {
    private func configuration(
        tls: [String], certificate: String?, key: String?, plain: [String] = []
    ) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.listenAddresses = plain.compactMap { SocketAddress($0) }
        configuration.tlsListenAddresses = tls.compactMap { SocketAddress($0) }
        configuration.tlsCertificatePath = certificate
        configuration.tlsKeyPath = key
        return configuration
    }

    @Test("certificate, key and address belong together, and each error names what lacks")
    func together() {
        let here = ["127.0.0.1:0"]
        let cases: [(ServerConfiguration, String?)] = [
            (configuration(tls: here, certificate: "c", key: "k"), nil),
            (configuration(tls: here, certificate: nil, key: nil), "--tls-cert"),
            (configuration(tls: here, certificate: "c", key: nil), "--tls-key"),
            (configuration(tls: here, certificate: nil, key: "k"), "--tls-cert"),
            (configuration(tls: [], certificate: "c", key: "k", plain: here), "--tls-listen"),
            (configuration(tls: [], certificate: nil, key: nil), "no address"),
            (configuration(tls: ["0.0.0.0:0"], certificate: "c", key: "k"), "--allow-anonymous"),
        ]
        for (configuration, words) in cases {
            if let words {
                #expect(configuration.fault()?.contains(words) == true)
            } else {
                #expect(configuration.fault() == nil)
            }
        }
        #expect(!configuration(tls: ["0.0.0.0:0"], certificate: "c", key: "k").isLoopbackOnly)
    }

    @Test("a certificate or key that cannot be used is named by its option, and its path is not")
    func faults() throws {
        #expect(Server.certificateFault(of: ServerConfiguration()) == nil)
        let missing = configuration(
            tls: [], certificate: "/no/such/certificate", key: "/no/such/key")
        let sentence = try #require(Server.certificateFault(of: missing))
        #expect(sentence.hasPrefix("tls-cert cannot be read"))
        #expect(!sentence.contains("/no/such"))
        let empty = configuration(tls: [], certificate: "/dev/null", key: "/dev/null")
        #expect(Server.certificateFault(of: empty) == "tls-cert: there is no PEM certificate")
    }
}
