import BelfryHistory
import Testing

@testable import BelfryCluster

@Suite("NATSJournal: what anybody may send")
struct NATSRubbishTests {
    @Test("answers in any order, with any numbers and payloads, stop nothing", arguments: 1...20)
    func answers(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let server = try ScriptedServer.ready { $0.snapshotByteLimit = 3_000 }
        let numbers: [UInt64] = [0, 1, 2, 3, 4, 1 << 63, .max]
        let state: [UInt8] = [1, 2, 3]
        let manifest = SnapshotManifest(
            index: .max, byteCount: 3, digest: state, sequences: [1, 2, .max])
        for _ in 0..<2_000 {
            switch dice.below(8) {
            case 0: server.journal.read(after: numbers[dice.below(7)])
            case 1: server.journal.save(JournalSnapshot(index: 1, state: state))
            case 2: server.journal.load()
            case 3: server.journal.trim(through: numbers[dice.below(7)])
            default: break
            }
            let letter = "ckabetpsvwlm".randomLetter(&dice)
            let tokens = (0..<dice.below(4)).map { _ in
                // Some are those of a question that is under way.
                [server.journal.readNumber, server.journal.saveNumber, server.journal.loadNumber]
                    .appending(numbers)[dice.below(10)]
            }
            let inquiry = tokens.reduce(letter) { "\($0).\($1)" }
            let sequence = numbers[dice.below(7)]
            switch dice.below(7) {
            case 0: server.answer(inquiry, sequence: sequence, state)
            case 1: server.answer(inquiry, sequence: sequence, manifest.code)
            case 2:
                server.answer(inquiry, server.info(first: sequence, last: numbers[dice.below(5)]))
            case 3:
                server.acknowledge(
                    inquiry, sequence, in: dice.oneIn(2) ? "BELFRY_prod" : "BELFRY_prod_SNAP")
            case 4: server.answer(inquiry, status: "204", "Nats-Num-Pending: \(sequence)\r\n")
            case 5: server.answer(inquiry, status: "404")
            default:
                server.message(
                    dice.below(5), "\(ScriptedServer.inbox).\(inquiry)", state,
                    headers: NATSLogTests.block(sequence: "\(sequence)"))
            }
            if dice.oneIn(3) { _ = server.events() }
            _ = server.sent()
            #expect(server.journal.progress == .ready)
        }
    }
}

extension [UInt64] {
    fileprivate func appending(_ more: [UInt64]) -> [UInt64] { self + more }
}

extension String {
    fileprivate func randomLetter(_ dice: inout Dice) -> String {
        String(self[index(startIndex, offsetBy: dice.below(count))])
    }
}
