import BelfryClient
import BelfrySystem
import Testing

@Suite("StopSignals")
struct StopSignalsTests {
    @Test("a task that is cancelled waits for no signal any more")
    func cancelled() async throws {
        let (codes, code) = AsyncStream.makeStream(of: Int32?.self)
        // It waits for signals on its own thread, as on the main one of a program.
        let thread = try SystemThread {
            code.yield(
                try? StopSignals.run { signals in
                    let waiting = Task { await signals.wait() }
                    waiting.cancel()
                    return await waiting.value ? 1 : 0
                })
        }
        var iterator = codes.makeAsyncIterator()
        #expect(await iterator.next() == .some(0))
        thread.join()
    }
}
