import ArgumentParser

/// A command that works on the main thread alone.
protocol BlockingCommand: ParsableCommand {
    /// Performs the command.
    func perform() throws(ToolError)
}
