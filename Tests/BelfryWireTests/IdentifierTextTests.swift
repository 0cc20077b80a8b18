import BelfryCenter
import BelfryWire
import Testing

@Suite("IdentifierText and CursorText")
struct IdentifierTextTests {
    @Test("an observer is read with and without its secret")
    func observers() {
        let id = bytes("o17")
        let token = bytes("o18446744073709551615.aZ09-_")
        #expect(IdentifierText(observer: id.span)?.number == 17)
        #expect(IdentifierText(observer: id.span)?.secret == nil)
        #expect(IdentifierText(observer: token.span)?.number == .max)
        #expect(IdentifierText(observer: token.span)?.secret == bytes("aZ09-_"))
        #expect(IdentifierText(client: id.span) == nil)
    }

    @Test(
        "what has another spelling is no identifier",
        arguments: [
            "", "c", "c.", "c4.", "c04", "c-4", "c+4", "c 4", "c4 ", "C4", "o4", "4", "c.x",
            "c4.x.y",
            "c4.x=", "c4.é", "c18446744073709551616", "c4.\(String(repeating: "x", count: 65))",
        ])
    func wrong(text: String) {
        let text = bytes(text)
        #expect(IdentifierText(client: text.span) == nil)
    }

    @Test("a mode lease is m and its number")
    func modes() {
        var token: [UInt8] = []
        IdentifierText.append(mode: 3, secret: bytes("x_"), to: &token)
        #expect(text(token) == "m3.x_")
        #expect(IdentifierText(mode: token.span)?.number == 3)
        #expect(IdentifierText(mode: token.span)?.secret == bytes("x_"))
        #expect(IdentifierText(client: token.span) == nil)
        let client = bytes("c3.x_")
        #expect(IdentifierText(mode: client.span) == nil)
        let bare = bytes("m3")
        #expect(IdentifierText(mode: bare.span)?.secret == nil)
    }

    @Test("a secret has at most 64 bytes")
    func border() {
        let session = bytes("c4." + String(repeating: "x", count: 64))
        #expect(IdentifierText(client: session.span)?.secret?.count == 64)
    }

    @Test("what is written is read")
    func written() {
        var client: [UInt8] = []
        IdentifierText.append(client: 4, secret: bytes("Qz"), to: &client)
        #expect(text(client) == "c4.Qz")
        var observer: [UInt8] = []
        IdentifierText.append(observer: 0, to: &observer)
        #expect(text(observer) == "o0")
        #expect(IdentifierText(observer: observer.span)?.number == 0)
    }

    @Test("a cursor comes back as it went", arguments: [0, 17, UInt64.max])
    func cursor(value: UInt64) {
        var text: [UInt8] = []
        CursorText.append(value, to: &text)
        #expect(CursorText.read(text.span) == value)
    }

    @Test(
        "the text of a place in an order is read as it was written",
        arguments: [
            (RowKey(), "0.0."), (RowKey(number: -7, row: .max), "-7.18446744073709551615."),
            (RowKey(number: .max, text: bytes("Aé"), row: 1), "9223372036854775807.1.41c3a9"),
        ])
    func key(key: RowKey, text: String) {
        var written: [UInt8] = []
        CursorText.append(key, to: &written)
        #expect(String(decoding: written, as: UTF8.self) == text)
        #expect(CursorText.readKey(written.span) == key)
    }

    @Test(
        "what is no such text is not read",
        arguments: [
            "", "1", "1.2", "1.2.3", "1.2.3g", "1.2.AB", "-.2.", "1.-2.", "01.2.", "1.2.33.",
            "9223372036854775808.1.",
        ])
    func noKey(text: String) {
        #expect(CursorText.readKey(bytes(text).span) == nil)
    }
}
