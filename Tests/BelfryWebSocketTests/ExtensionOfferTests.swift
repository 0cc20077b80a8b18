import Testing

@testable import BelfryWebSocket

@Suite("ExtensionOffer and DeflateOffer (RFC 6455 §9.1, RFC 7692 §7.1)")
struct ExtensionOfferTests {
    static func offers(_ lines: [String]) -> [DeflateOffer] {
        var request = OpeningRequest()
        request.extensions = lines.map { Array($0.utf8) }
        return request.deflateOffers
    }

    @Test("names, parameters and quoted values are read, lines combine")
    func grammar() {
        let lines = ["a ; b=\"c\\d\" ;e, ,f", "g;h = i"].map { Array($0.utf8) }
        let parsed = ExtensionOffer.parse(lines)?.map { offer in
            offer.parameters.reduce(String(decoding: offer.name, as: UTF8.self)) {
                $0 + ";" + String(decoding: $1.name, as: UTF8.self) + "="
                    + String(decoding: $1.value ?? [], as: UTF8.self)
            }
        }
        #expect(parsed == ["a;b=cd;e=", "f", "g;h=i"])
    }

    @Test(
        "what breaks the grammar offers nothing",
        arguments: [
            "a;", "a; ;b", "a;=b", "a;b=", "a;b=\"", "a;b=\"\"", "a;b=\"c d\"", "a b", ";a",
            "a;b=c d",
            "a;b=\"c\\", "<a>",
        ])
    func malformed(line: String) {
        #expect(ExtensionOffer.parse([Array(line.utf8)]) == nil)
        #expect(Self.offers(["permessage-deflate", line]).isEmpty)
    }

    @Test("the four parameters are read")
    func parameters() {
        #expect(Self.offers([]).isEmpty)
        #expect(Self.offers(["permessage-deflate"]).count == 1)
        let offers = Self.offers([
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                + "server_max_window_bits=\"10\"; client_max_window_bits=15"
        ])
        #expect(offers.first?.serverNoContextTakeover == true)
        #expect(offers.first?.clientNoContextTakeover == true)
        #expect(offers.first?.serverWindowBitLimit == 10)
        #expect(offers.first?.clientWindowBitLimit == 15)
        let bare = Self.offers(["permessage-deflate; client_max_window_bits"])
        #expect(bare.first?.allowsClientWindowBitLimit == true)
        #expect(bare.first?.clientWindowBitLimit == nil)
    }

    @Test(
        "an offer with a bad parameter is left out, and the next one counts",
        arguments: [
            "foo=bar", "server_max_window_bits", "server_max_window_bits=7",
            "server_max_window_bits=16", "server_max_window_bits=08", "client_max_window_bits=7",
            "client_max_window_bits=16", "server_no_context_takeover=1",
            "client_no_context_takeover; client_no_context_takeover", "SERVER_NO_CONTEXT_TAKEOVER",
        ])
    func badParameters(text: String) {
        #expect(Self.offers(["permessage-deflate; \(text)"]).isEmpty)
        #expect(Self.offers(["permessage-deflate; \(text), permessage-deflate"]).count == 1)
    }

    @Test(
        "other extensions are not taken for it",
        arguments: ["permessage-deflatex", "x-webkit-deflate-frame, permessage-bzip2"])
    func others(line: String) {
        #expect(Self.offers([line]).isEmpty)
    }

    @Test("the borders of the window are taken", arguments: 8...15)
    func windows(bitCount: Int) {
        let offers = Self.offers(["permessage-deflate; server_max_window_bits=\(bitCount)"])
        #expect(offers.first?.serverWindowBitLimit == bitCount)
    }
}
