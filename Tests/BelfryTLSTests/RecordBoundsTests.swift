import TestCertificates
import Testing

@testable import BelfryTLS

@Suite("RecordBounds (RFC 8446 §5.1): libssl gets whole records")
struct RecordBoundsTests {
    private static let record: [UInt8] = [22, 3, 1, 0, 2, 7, 7]

    private static func bounds(_ bytes: [UInt8], from start: Int = 0) -> RecordBounds {
        RecordBounds(of: bytes.span, from: start)
    }

    @Test("the end is behind the last whole record, wherever the bytes end")
    func ends() {
        let two = Self.record + Self.record
        for count in 0...two.count {
            let found = Self.bounds(Array(two[..<count]))
            #expect(found.end == count / 7 * 7)
            #expect(!found.isBroken)
        }
        #expect(Self.bounds(two, from: 7).end == 14)
        #expect(Self.bounds([22, 3, 1, 0, 0]).end == 5)
    }

    @Test("what is not a record, or too long for one, is for libssl to refuse")
    func broken() {
        #expect(Self.bounds(Array("GET /".utf8)).isBroken)
        #expect(!Self.bounds(Array("GET ".utf8)).isBroken)
        #expect(Self.bounds(Self.record + [19, 3, 3, 0, 1]).isBroken)
        #expect(Self.bounds(Self.record + [24, 3, 3, 0, 1, 0]).end == 13)
        // 18,432 bytes are the most that a record of any version may have.
        #expect(!Self.bounds([23, 3, 3, 72, 0]).isBroken)
        #expect(Self.bounds([23, 3, 3, 72, 1]).isBroken)
    }

    @Test("a server makes nothing of a part of a record, and keeps it")
    func stages() throws {
        let authority = TestAuthority()
        let identity = authority.issue()
        let pair = Pair(
            try TLSContext(certificateChain: identity.certificate, privateKey: identity.key),
            try TLSContext(authorities: .pem(authority.certificate)))
        let hello = pair.toServer
        pair.toServer = Array(hello.dropLast())
        try pair.carryToServer()
        #expect(pair.server.stage == .waiting)
        #expect(pair.server.partByteCount == hello.count - 1)
        #expect(pair.server.version == "" && !pair.server.isResumed)
        pair.toServer = Array(hello.suffix(1))
        try pair.carryToServer()
        #expect(pair.server.stage == .handshake)
        #expect(pair.server.partByteCount == 0)
        try pair.run()
        #expect(pair.server.stage == .open)
    }

    @Test("a first record that libssl would wait on for ever is refused")
    func oldHello() throws {
        let identity = TestAuthority().issue()
        let session = TLSSession(
            try TLSContext(certificateChain: identity.certificate, privateKey: identity.key))
        var (output, got, events): ([UInt8], [UInt8], [TLSEvent]) = ([], [], [])
        // The beginning of a ClientHello of SSL 2.
        #expect(throws: TLSError.self) {
            try Pair.feed(
                [0x80, 0x2E, 1, 3, 3, 0, 0x15, 0, 0, 0, 0x10], session, 16_384, output: &output,
                got: &got, events: &events)
        }
    }
}
