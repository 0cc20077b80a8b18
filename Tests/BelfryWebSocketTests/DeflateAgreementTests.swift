import BelfryWebSocket
import Testing

@Suite("DeflateAgreement (RFC 7692 §5, §7.1)")
struct DeflateAgreementTests {
    static let both = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    static func answer(_ lines: [String], allowsDeflate: Bool = true) -> String? {
        var request = OpeningRequest()
        request.upgrade = [Array("websocket".utf8)]
        request.connection = [Array("upgrade".utf8)]
        request.key = [Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)]
        request.version = [Array("13".utf8)]
        request.extensions = lines.map { Array($0.utf8) }
        let decision = request.decide(
            subprotocols: [], unknown: .ignored, allowsDeflate: allowsDeflate)
        guard case .accept(_, _, let deflate) = decision else { return "refused" }
        return deflate.map { String(decoding: $0.fieldValue, as: UTF8.self) }
    }

    @Test(
        "an offer is answered without takeover, and with the window that it limits",
        arguments: [
            ("permessage-deflate", ""),
            ("permessage-deflate; client_max_window_bits", ""),
            ("permessage-deflate; client_max_window_bits=8", ""),
            ("permessage-deflate; client_max_window_bits=\"15\"", ""),
            ("permessage-deflate; server_no_context_takeover", ""),
            ("permessage-deflate; client_no_context_takeover", ""),
            ("permessage-deflate; server_max_window_bits=15", "; server_max_window_bits=15"),
            ("permessage-deflate; server_max_window_bits=9", "; server_max_window_bits=9"),
            ("permessage-deflate; server_max_window_bits=\"14\"", "; server_max_window_bits=12"),
            ("permessage-deflate; server_max_window_bits=12", "; server_max_window_bits=12"),
            ("permessage-deflate; server_max_window_bits=11", "; server_max_window_bits=9"),
        ])
    func accepted(offer: String, window: String) {
        #expect(Self.answer([offer]) == Self.both + window)
    }

    @Test(
        "an offer that cannot be agreed to is declined, and the connection opens without it",
        arguments: [
            "permessage-deflate; server_max_window_bits=8",
            "permessage-deflate; server_max_window_bits=7",
            "permessage-deflate; server_max_window_bits=16",
            "permessage-deflate; server_max_window_bits=010",
            "permessage-deflate; server_max_window_bits",
            "permessage-deflate; server_max_window_bits=10; server_max_window_bits=10",
            "permessage-deflate; client_max_window_bits; client_max_window_bits=10",
            "permessage-deflate; client_max_window_bits=16",
            "permessage-deflate; server_no_context_takeover=1",
            "permessage-deflate; client_no_context_takeover=\"\"",
            "permessage-deflate; foo", "permessage-deflate; ; =", "permessage-deflatex",
            "x-webkit-deflate-frame, permessage-bzip2", "",
        ])
    func declined(offer: String) {
        #expect(Self.answer([offer]) == nil)
    }

    @Test("of several offers the first that can be agreed to counts, on one line or several")
    func preference() {
        let (narrow, bad) = (
            "permessage-deflate; server_max_window_bits=10",
            "permessage-deflate; server_max_window_bits=8"
        )
        let window = Self.both + "; server_max_window_bits=9"
        #expect(Self.answer([narrow + ", permessage-deflate"]) == window)
        #expect(Self.answer([bad + ", " + narrow]) == window)
        #expect(Self.answer(["permessage-foo", bad, narrow, "permessage-deflate"]) == window)
        #expect(Self.answer(["permessage-deflate", narrow]) == Self.both)
    }

    @Test("a server that compresses nothing declines every offer")
    func notAllowed() {
        #expect(Self.answer(["permessage-deflate"], allowsDeflate: false) == nil)
    }

    static func outcome(_ lines: [String], offersDeflate: Bool) -> OpeningResponse.Outcome {
        var response = OpeningResponse(status: 101)
        response.upgrade = [Array("websocket".utf8)]
        response.connection = [Array("Upgrade".utf8)]
        response.extensions = lines.map { Array($0.utf8) }
        let opening = ClientOpening(nonce: [16 of UInt8](repeating: 7))
        var request = OpeningRequest()
        request.upgrade = response.upgrade
        request.connection = response.connection
        request.version = [Array("13".utf8)]
        request.key = [opening.key]
        let decision = request.decide(subprotocols: [], unknown: .ignored, allowsDeflate: false)
        if case .accept(let key, _, _) = decision { response.accept = [key] }
        return response.outcome(of: opening, subprotocols: [], offersDeflate: offersDeflate)
    }

    @Test("the client's own offer is agreed to, and its twin understands the answer")
    func twins() {
        let offer = String(decoding: DeflateAgreement.clientFieldValue, as: UTF8.self)
        let answer = Self.answer([offer])
        #expect(answer == Self.both)
        #expect(
            Self.outcome([answer ?? ""], offersDeflate: true)
                == .open(subprotocol: nil, mayInflate: true))
        #expect(
            Self.outcome([], offersDeflate: true) == .open(subprotocol: nil, mayInflate: false))
    }

    @Test(
        "a client takes no answer that it cannot live with (§7.1)",
        arguments: [
            "permessage-deflate", "permessage-deflate; client_no_context_takeover",
            "permessage-deflate; server_no_context_takeover; client_max_window_bits=10",
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
            "permessage-deflate; server_no_context_takeover; foo",
            "permessage-deflate; server_no_context_takeover, permessage-deflate", "other", ";",
        ])
    func badAnswer(text: String) {
        #expect(Self.outcome([text], offersDeflate: true) == .invalid(.unexpectedExtension))
    }

    @Test("a client that offered nothing takes no extension; a window limit it always takes")
    func unasked() {
        #expect(Self.outcome([Self.both], offersDeflate: false) == .invalid(.unexpectedExtension))
        let narrow = Self.both + "; server_max_window_bits=9"
        #expect(
            Self.outcome([narrow], offersDeflate: true)
                == .open(subprotocol: nil, mayInflate: true))
    }
}
