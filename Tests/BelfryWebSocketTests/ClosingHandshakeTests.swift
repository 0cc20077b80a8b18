import BelfryWebSocket
import Testing

@Suite("ClosingHandshake (RFC 6455 §7)")
struct ClosingHandshakeTests {
    @Test("a server answers a Close with the same code, and ends the transport")
    func serverAnswers() {
        var closing = ClosingHandshake(role: .server)
        #expect(closing.maySend)
        #expect(closing.receiveClose(.goingAway) == .sendCloseThenEnd(.goingAway))
        #expect(closing.state == .closed && closing.outcome == .goingAway)
        #expect(!closing.maySend)
    }

    @Test("a Close without a code is answered without one, and counts as 1005")
    func noCode() {
        var closing = ClosingHandshake(role: .server)
        #expect(closing.receiveClose(nil) == .sendCloseThenEnd(nil))
        #expect(closing.outcome == .noStatusReceived)
    }

    @Test("a server that closes first reads on until the answer, then ends the transport")
    func serverBegins() {
        var closing = ClosingHandshake(role: .server)
        #expect(closing.close(.serviceRestart) == .sendClose(.serviceRestart))
        #expect(!closing.maySend)
        #expect(closing.close(.goingAway) == .none)
        #expect(closing.receiveClose(.serviceRestart) == .endTransport)
        #expect(closing.state == .closed && closing.outcome == .serviceRestart)
    }

    @Test("a client leaves the end of the transport to the server, whoever began (§7.1.1)")
    func client() {
        var answering = ClosingHandshake(role: .client)
        #expect(answering.receiveClose(.goingAway) == .sendClose(.goingAway))
        var beginning = ClosingHandshake(role: .client)
        #expect(beginning.close(.normalClosure) == .sendClose(.normalClosure))
        #expect(beginning.receiveClose(.normalClosure) == .none)
        for var closing in [answering, beginning] {
            #expect(closing.state == .peerSentClose)
            #expect(closing.receiveClose(.tooSlow) == .none)
            #expect(closing.outcome != .abnormalClosure)
        }
    }

    @Test(
        "a fault is reported with its code, and the transport ends",
        arguments: [Role.client, .server])
    func failure(role: Role) {
        var closing = ClosingHandshake(role: role)
        #expect(closing.fail(.missingMask) == .sendCloseThenEnd(.protocolError))
        #expect(closing.state == .closed && closing.outcome == .abnormalClosure)
        #expect(closing.fail(.missingMask) == .none)
    }

    @Test("after our own Close a fault ends the transport without a second one")
    func failureAfterClose() {
        var closing = ClosingHandshake(role: .server)
        _ = closing.close(.normalClosure)
        #expect(closing.fail(.missingMask) == .endTransport)
    }
}
