import BelfrySystem

/// The process's use of the machine, sampled by a thread that may wait for the system.
///
/// A reading returns the last sample and starts another one: without readings nothing is sampled,
/// and no loop reads the table of descriptors.
final class ProcessSampler: Sendable {
    /// The result of one sample.
    struct Sample: Sendable {
        /// The figures; nil where the system does not have them.
        var figures: ProcessFigures?
        var descriptorLimit = 0

        /// Takes a sample now.
        static func now() -> Sample {
            var sample = Sample()
            do throws(SystemCallError) {
                sample.descriptorLimit = try DescriptorLimit.current().soft
                sample.figures = try ProcessFigures.current()
            } catch {
                // Without /proc, as in some sandboxes, there are no figures.
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

    /// Returns the last sample, and starts another one.
    func figures() -> Sample {
        state.change { state in
            state.isAsked = true
            return state.sample
        }
    }
}
