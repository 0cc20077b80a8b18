import ArgumentParser
import BelfryClient

/// A command that talks to a broker.
protocol ClientCommand: ParsableCommand, Sendable {
    /// Performs the command, and ends early when a signal comes.
    func perform(_ signals: StopSignals) async throws(ToolError)
}
