import BelfryCluster
import SimulatedLog
import Testing

@Suite("Every journal holds to the same")
struct JournalTests {
    @Test(
        "a log in memory, at once and with messages that take their time",
        arguments: JournalCases.all.indices, [0, 5_000_000] as [Int64])
    func memory(place: Int, delay: Int64) {
        var faults = SimulatedEngine.Faults()
        faults.delay = delay
        let scene = Scene(faults)
        #expect(JournalCases.all[place].run(scene.cases) == [], "\(JournalCases.all[place].name)")
    }

    private final class Scene {
        private let faults: SimulatedEngine.Faults
        private var engine: SimulatedEngine

        init(_ faults: SimulatedEngine.Faults) {
            self.faults = faults
            engine = SimulatedEngine(seed: 1, faults: faults)
        }

        var cases: JournalCases {
            JournalCases(
                makeJournal: { [self] isFirst in
                    if isFirst { engine = SimulatedEngine(seed: 1, faults: faults) }
                    return engine.connect()
                },
                settle: { [self] in
                    // Requests and answers, one after the other.
                    for _ in 0..<4 { engine.run(until: engine.now + 10_000_000) }
                })
        }
    }
}
