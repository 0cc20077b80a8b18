import BelfryHistory
import Testing

@testable import BelfryServer

@Suite("Two loops whose mail comes late, judged by what clients see (decision 65)")
struct LateMailTests {
    @Test(
        "no order of turns, mail, cuts and slow readers breaks a law",
        arguments: 1...40 as ClosedRange<UInt64>)
    func laws(seed: UInt64) throws {
        let stage = try LateStage(seed: seed)
        for _ in 0..<400 { try stage.step() }
        try stage.finish()
        try stage.history.check()
    }

    @Test("a seed is a history: it comes again byte by byte")
    func repeats() throws {
        var digests: Set<UInt64> = []
        for _ in 0..<2 {
            let stage = try LateStage(seed: 1)
            for _ in 0..<400 { try stage.step() }
            try stage.finish()
            digests.insert(stage.history.digest)
        }
        #expect(digests.count == 1)
    }
}
