import Testing

@testable import BelfryCenter

@Suite("NotificationID")
struct NotificationIDTests {
    private func text(_ id: NotificationID) -> String {
        var output: [UInt8] = []
        id.append(to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test(
        "the text form is that of the ULID specification",
        arguments: [
            (NotificationID(high: 0, low: 0), "00000000000000000000000000"),
            (NotificationID(high: 0, low: 1), "00000000000000000000000001"),
            (NotificationID(high: 0, low: .max), "0000000000000FZZZZZZZZZZZZ"),
            (NotificationID(high: 1, low: 0), "0000000000000G000000000000"),
            (NotificationID(high: .max, low: .max), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
            (
                NotificationID(milliseconds: 1_469_918_176_385, place: 0, random: 0),
                "01ARYZ6S410000000000000000"
            ),
        ])
    func known(id: NotificationID, form: String) {
        #expect(text(id) == form)
        #expect(NotificationID(text: bytes(form).span) == id)
    }

    @Test(
        "a text that is no ULID is refused",
        arguments: [
            "", "0000000000000000000000000", "000000000000000000000000000",
            "80000000000000000000000000", "0000000000000000000000000I",
            "0000000000000000000000000L", "0000000000000000000000000O",
            "0000000000000000000000000U", "0000000000000000000000000a",
            "/0000000000000000000000000", "0000000000000000000000000:",
            "0000000000000000000000000[", "0000000000000000000000000@",
        ])
    func refused(form: String) {
        #expect(NotificationID(text: bytes(form).span) == nil)
    }

    @Test("random identifiers come back from their text", arguments: 1...3)
    func randomRoundTrip(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let id = NotificationID(high: generator.next(), low: generator.next())
            check(NotificationID(text: bytes(text(id)).span) == id)
        }
    }
}
