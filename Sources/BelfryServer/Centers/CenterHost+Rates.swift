import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

extension CenterHost {
    /// Counts a call over a WebSocket for its address and its caller.
    mutating func chargeCall(_ frame: CallFrame, _ outbox: inout Outbox) throws(Problem) {
        guard let address = frame.submission.address else { return }
        do throws(RateTables.Refusal) {
            try shared.rates.take(of: address, at: outbox.loop.now.nanoseconds)
            try shared.rates.take(
                1, of: frame.submission.caller, at: address, outbox.loop.now.nanoseconds)
        } catch {
            outbox.counters.rateRefused += 1
            throw error.problem
        }
    }
}
