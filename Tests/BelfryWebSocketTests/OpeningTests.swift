import BelfryWebSocket
import Testing

@Suite("OpeningRequest and OpeningResponse (RFC 6455 §4)")
struct OpeningTests {
    typealias Change = @Sendable (inout OpeningRequest) -> Void

    /// A change of the sample request, and the refusal that it leads to.
    struct Refused: Sendable {
        let refusal: OpeningRefusal
        let change: Change

        init(_ refusal: OpeningRefusal, _ change: @escaping Change) {
            self.refusal = refusal
            self.change = change
        }
    }

    static let accept = Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8)

    static func lines(_ lines: [String]) -> [[UInt8]] { lines.map { Array($0.utf8) } }

    /// The sample request of RFC 6455 §1.3, changed.
    static func decide(
        own: [String] = ["belfry.v1"], unknown: OpeningRequest.UnknownSubprotocols = .refused,
        _ change: Change
    ) -> OpeningDecision {
        var request = OpeningRequest()
        request.upgrade = lines(["websocket"])
        request.connection = lines(["Upgrade"])
        request.key = lines(["dGhlIHNhbXBsZSBub25jZQ=="])
        request.version = lines(["13"])
        change(&request)
        return request.decide(subprotocols: lines(own), unknown: unknown, allowsDeflate: false)
    }

    @Test(
        "good requests are accepted with the sample's answer",
        arguments: [
            { _ in }, { $0.upgrade = lines(["WebSocket"]) },
            { $0.upgrade = lines(["h2c, WEBSOCKET"]) },
            { $0.upgrade = lines(["foo/2", "websocket"]) },
            { $0.connection = lines(["keep-alive, Upgrade"]) },
            { $0.connection = lines(["keep-alive,\tupgrade ,foo"]) },
            { $0.connection = lines(["keep-alive", "UPGRADE"]) },
            { $0.connection = lines([", ,upgrade,"]) },
            { $0.extensions = lines(["permessage-deflate; client_max_window_bits"]) },
            { $0.extensions = lines(["permessage-deflate; ; ="]) },
        ] as [Change])
    func accepted(change: Change) {
        #expect(
            Self.decide(change)
                == .accept(acceptKey: Self.accept, subprotocol: nil, deflate: nil))
    }

    @Test("another key gets another answer")
    func otherKey() {
        let decision = Self.decide { $0.key = Self.lines(["x3JJHMbDL1EzLkh9GBhXDw=="]) }
        let answer = Array("HSmrc0sMlYUkAGmm5OPpG2HaGWk=".utf8)
        #expect(decision == .accept(acceptKey: answer, subprotocol: nil, deflate: nil))
    }

    @Test(
        "a request that is no opening is refused with the reason",
        arguments: [
            Refused(.methodNotGet) { $0.isGet = false },
            Refused(.versionTooOld) { $0.isHTTP11OrLater = false },
            Refused(.hasContent) { $0.hasContent = true },
            Refused(.noUpgrade) { $0.upgrade = [] },
            Refused(.noUpgrade) { $0.upgrade = lines(["websocket2"]) },
            Refused(.noUpgrade) { $0.upgrade = lines(["h2c"]) },
            Refused(.noConnectionUpgrade) { $0.connection = [] },
            Refused(.noConnectionUpgrade) { $0.connection = lines(["NoUpgradeHere"]) },
            Refused(.noKey) { $0.key = [] },
            Refused(.invalidKey) { $0.key = lines([""]) },
            Refused(.repeatedKey) { $0.key += $0.key },
            Refused(.invalidKey) { $0.key = lines(["YWJj"]) },
            Refused(.invalidKey) { $0.key = lines(["eHh4eHh4eHh4eHh4eHh4eHg="]) },
            Refused(.invalidKey) { $0.key = lines(["!!!!!!!!!!!!!!!!!!!!!!=="]) },
            Refused(.invalidKey) { $0.key = lines(["dGhlIHNhbXBsZSBub25jZR=="]) },
            Refused(.invalidKey) { $0.key = lines(["dGhlIHNhbXBsZSBub25jZQ"]) },
            Refused(.unsupportedVersion) { $0.version = [] },
            Refused(.unsupportedVersion) { $0.version = lines(["8"]) },
            Refused(.unsupportedVersion) { $0.version = lines(["013"]) },
            Refused(.unsupportedVersion) { $0.version = lines(["13, 8"]) },
            Refused(.repeatedVersion) { $0.version = lines(["13", "13"]) },
        ])
    func refused(example: Refused) {
        #expect(Self.decide(example.change) == .refuse(example.refusal))
    }

    @Test("a refusal has its status, and 426 names what to upgrade to")
    func refusals() {
        #expect(OpeningRefusal.methodNotGet.status == 405)
        #expect(OpeningRefusal.invalidKey.status == 400)
        for refusal in [OpeningRefusal.noUpgrade, .noConnectionUpgrade, .unsupportedVersion] {
            #expect(refusal.status == 426 && refusal.namesUpgrade)
        }
        #expect(!OpeningRefusal.unknownSubprotocols.namesUpgrade)
    }

    @Test(
        "the client's first subprotocol that the server speaks is chosen",
        arguments: [
            ([], .some(nil)), (["belfry.v1"], "belfry.v1"), (["foo, belfry.v1 , bar"], "belfry.v1"),
            (["foo", "belfry.v1"], "belfry.v1"), (["belfry.v2,belfry.v1"], "belfry.v2"),
            (["base64url.bearer.belfry.YWJj", "belfry.v1"], "belfry.v1"),
            (["base64url.bearer.belfry.YWJj"], .some(nil)), (["Belfry.v1"], nil), (["foo"], nil),
        ] as [([String], String??)])
    func subprotocols(offered: [String], chosen: String??) {
        let decision = Self.decide(own: ["belfry.v1", "belfry.v2"]) {
            $0.subprotocols = Self.lines(offered)
        }
        if let chosen {
            let name = chosen.map { Array($0.utf8) }
            #expect(decision == .accept(acceptKey: Self.accept, subprotocol: name, deflate: nil))
        } else {
            #expect(decision == .refuse(.unknownSubprotocols))
        }
    }

    @Test("a path without subprotocols answers none")
    func ignoredSubprotocols() {
        let decision = Self.decide(own: [], unknown: .ignored) {
            $0.subprotocols = Self.lines(["no.such.protocol"])
        }
        #expect(decision == .accept(acceptKey: Self.accept, subprotocol: nil, deflate: nil))
    }

    @Test(
        "a list that is no list of tokens is refused",
        arguments: [[""], [" , ,"], ["<script>"], ["belfry.v1, a b"], ["belfry.v1", "\"x\""]])
    func malformedSubprotocols(offered: [String]) {
        for unknown in [OpeningRequest.UnknownSubprotocols.refused, .ignored] {
            let decision = Self.decide(unknown: unknown) { $0.subprotocols = Self.lines(offered) }
            #expect(decision == .refuse(.malformedSubprotocols))
        }
    }

    /// A change of the sample response, and what it means for the client.
    struct Answered: Sendable {
        let outcome: OpeningResponse.Outcome
        let change: @Sendable (inout OpeningResponse) -> Void

        init(
            _ outcome: OpeningResponse.Outcome,
            _ change: @escaping @Sendable (inout OpeningResponse) -> Void
        ) {
            self.outcome = outcome
            self.change = change
        }
    }

    @Test(
        "a client checks the answer to its own key",
        arguments: [
            Answered(.open(subprotocol: nil, mayInflate: false)) { _ in },
            Answered(.open(subprotocol: lines(["belfry.v1"])[0], mayInflate: false)) {
                $0.subprotocols = lines(["belfry.v1"])
            },
            Answered(.refused(status: 426)) { $0.status = 426 },
            Answered(.invalid(.noUpgrade)) { $0.upgrade = [] },
            Answered(.invalid(.noConnectionUpgrade)) { $0.connection = lines(["close"]) },
            Answered(.invalid(.wrongAccept)) { $0.accept = [] },
            Answered(.invalid(.wrongAccept)) { $0.accept += $0.accept },
            Answered(.invalid(.wrongAccept)) {
                $0.accept = lines(["S3pPLMBiTxaQ9kYGzzhZRbK+xOo="])
            },
            Answered(.invalid(.unexpectedSubprotocol)) { $0.subprotocols = lines(["belfry.v2"]) },
            Answered(.invalid(.unexpectedExtension)) {
                $0.extensions = lines(["permessage-deflate"])
            },
        ])
    func response(example: Answered) {
        let nonce: [16 of UInt8] = [
            0x74, 0x68, 0x65, 0x20, 0x73, 0x61, 0x6D, 0x70, 0x6C, 0x65, 0x20, 0x6E, 0x6F, 0x6E,
            0x63, 0x65,
        ]
        let opening = ClientOpening(nonce: nonce)
        #expect(opening.key == Array("dGhlIHNhbXBsZSBub25jZQ==".utf8))
        var response = OpeningResponse(status: 101)
        response.upgrade = Self.lines(["websocket"])
        response.connection = Self.lines(["Upgrade"])
        response.accept = [Self.accept]
        example.change(&response)
        let outcome = response.outcome(
            of: opening, subprotocols: Self.lines(["belfry.v1"]), offersDeflate: false)
        #expect(outcome == example.outcome)
    }

    @Test("the two halves understand each other")
    func twins() {
        var generator = SplitMix(state: 1)
        for _ in 0..<20 {
            let opening = ClientOpening(using: &generator)
            let decision = Self.decide {
                $0.key = [opening.key]
                $0.subprotocols = Self.lines(["belfry.v1"])
            }
            guard case .accept(let acceptKey, let subprotocol?, nil) = decision else {
                Issue.record("the server refused its own client: \(decision)")
                return
            }
            var response = OpeningResponse(status: 101)
            response.upgrade = Self.lines(["websocket"])
            response.connection = Self.lines(["Upgrade"])
            response.accept = [acceptKey]
            response.subprotocols = [subprotocol]
            let outcome = response.outcome(
                of: opening, subprotocols: Self.lines(["belfry.v1"]), offersDeflate: true)
            #expect(outcome == .open(subprotocol: subprotocol, mayInflate: false))
        }
    }
}
