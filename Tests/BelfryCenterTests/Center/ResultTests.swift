import BelfryBytes
@testable import BelfryCenter
import Testing

@Suite("Results of acknowledging observers in the rows of a receipt (SIBLINGS 2.1, T239b)")
struct ResultTests {
    /// Observers of one name acknowledge a post with these responses; tells their rows.
    private static func rows(_ responses: [Response]) -> [ReportRow.Outcome] {
        var scenario = Scenario()
        let client = scenario.connect()
        let serials = responses.map { _ in scenario.observeAcknowledging("a", by: client) }
        scenario.say("a1") {
            $0.wait = 1_000_000_000
            $0.reportsObservers = true
        }
        for (serial, response) in zip(serials, responses) {
            #expect(scenario.effects.completions.isEmpty)
            scenario.answer(serial, 1, response)
        }
        #expect(scenario.center.tally[.askBytes] == 0)
        let completion = scenario.effects.completions.first
        #expect(completion?.receipts.first?.acknowledged == UInt32(responses.count))
        return completion?.reports.first?.map(\.outcome) ?? []
    }

    private static func text(_ byteCount: Int) -> [UInt8] {
        bytes("\"\(String(repeating: "x", count: byteCount - 2))\"")
    }

    @Test("a row has the result that is not null, in at most 4 KiB")
    func size() {
        #expect(
            Self.rows([
                .result(bytes(#"{"yes":1}"#)), .result(bytes("null")), .result(bytes("false")),
                .result(Self.text(4_096)), .result(Self.text(4_097)),
                .result(bytes("1"), canKeep: false), .oversized(error: bytes("{}")),
            ]) == [
                .answered(result: bytes(#"{"yes":1}"#)), .acknowledged,
                .answered(result: bytes("false")), .answered(result: Self.text(4_096)),
                .resultOmitted, .resultOmitted, .resultOmitted,
            ])
    }

    @Test("the rows of one receipt have at most 1 MiB of results")
    func sum() {
        let whole = Array(repeating: Response.result(Self.text(4_096)), count: 256)
        let kept = Self.rows(whole + [.result(bytes("1")), .result(bytes("null"))])
        #expect(kept.prefix(256).allSatisfy { $0 == .answered(result: Self.text(4_096)) })
        #expect(kept.suffix(2) == [.resultOmitted, .acknowledged])
        // The rest of the room goes to any row that fits.
        let most = Self.rows(
            whole.dropLast() + [
                .result(Self.text(4_000)), .result(Self.text(97)), .result(Self.text(96)),
            ])
        #expect(most.suffix(2) == [.resultOmitted, .answered(result: Self.text(96))])
    }

    @Test("each receipt of a batch has its own room, and what waits is counted")
    func batch() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serials = (0..<300).map { _ in scenario.observeAcknowledging("a", by: client) }
        scenario.sayAll(["a1", "a2"]) {
            $0.wait = 1_000_000_000
            $0.reportsObservers = true
        }
        for serial in serials { scenario.answer(serial, 1, .result(Self.text(4_096))) }
        #expect(scenario.center.tally[.askBytes] == 1 << 20)
        for serial in serials.dropLast() { scenario.answer(serial, 2, .result(Self.text(4_096))) }
        #expect(scenario.center.tally[.askBytes] == 2 << 20)
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.center.tally[.askBytes] == 0)
        let reports = scenario.effects.completions[0].reports
        for rows in reports {
            #expect(rows.count { $0.outcome.answerText != nil } == 256)
        }
        #expect(reports[1].last?.outcome == .pending)
    }

    @Test("a post that wants no rows keeps no results")
    func unasked() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serials = (0..<2).map { _ in scenario.observeAcknowledging("a", by: client) }
        scenario.say("a1") { $0.wait = 1_000_000_000 }
        scenario.answer(serials[0], 1, .result(bytes("[1]")))
        #expect(scenario.center.tally[.askBytes] == 0)
        scenario.answer(serials[1], 1, .result(bytes("[1]")))
        #expect(scenario.effects.completions.map(\.reports) == [[]])
    }

    @Test("who repeats the post under its key gets the same results")
    func replayed() {
        var scenario = Scenario()
        let serial = scenario.observeAcknowledging("a", by: scenario.connect())
        let terms = { (terms: inout PostTerms) in
            terms.wait = 1_000_000_000
            terms.reportsObservers = true
            terms.details = PostTerms.Details(
                scope: .everything,
                key: IdempotencyKey(
                    principal: bytes("p"), text: bytes("k"),
                    requestHash: SecretHash(high: 0, low: 1), form: 2))
        }
        scenario.say("a1", terms)
        scenario.answer(serial, 1, .result(bytes("[1]")))
        scenario.say("a1", terms)
        #expect(
            scenario.effects.reports == [
                [ReportRow(observer: serial, outcome: .answered(result: bytes("[1]")))]
            ])
    }
}
