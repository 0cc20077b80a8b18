import BelfrySystem

/// What the process takes of the machine, looked at by a thread that may wait for the system.
///
/// Whoever asks gets what the look before has found, and lets the thread look again: nothing is done while
/// nobody asks, and no loop goes through the table of descriptors.
final class ProcessSampler: Sendable {
    /// What a look has found.
    struct Sample: Sendable {
        /// Nil where the system does not tell it.
        var figures: ProcessFigures?
        var descriptorLimit = 0

        /// Looks now.
        static func now() -> Sample {
            var sample = Sample()
            do throws(SystemCallError) {
                sample.descriptorLimit = try DescriptorLimit.current().soft
                sample.figures = try ProcessFigures.current()
            } catch {
                // Without /proc, as in some sandboxes, there is nothing to tell.
                sample.figures = nil
            }
            return sample
        }
    }

    private struct State: Sendable {
        var sample = Sample.now()
        var isAsked = false
    }

    private let state = Monitor(State())

    /// Starts the thread, which runs as long as the process does.
    func start() throws(SystemCallError) {
        _ = try SystemThread { [state] in
            while true {
                _ = state.take { state -> Bool? in
                    guard state.isAsked else { return nil }
                    state.isAsked = false
                    return true
                }
                let sample = Sample.now()
                state.change { $0.sample = sample }
            }
        }
    }

    /// What the look before has found; another look follows.
    func figures() -> Sample {
        state.change { state in
            state.isAsked = true
            return state.sample
        }
    }
}
