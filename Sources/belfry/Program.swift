import ArgumentParser
import BelfrySystem

@main
enum Program {
    /// Runs on the main thread throughout, so that the broker finds its signals there.
    static func main() async {
        let status = await run(Array(CommandLine.arguments.dropFirst()))
        Belfry.exit(withError: ExitCode(status))
    }

    /// Runs a command line, and gives the exit code: 0 clean, 1 failure, 2 usage.
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            let command = try Belfry.parseAsRoot(arguments)
            guard let command = command as? any ToolCommand else {
                say(Belfry.helpMessage(), to: .error)
                return 2
            }
            try await command.perform()
            return 0
        } catch let error as ToolError {
            say("belfry: \(error.text)", to: .error)
            return error.exitCode
        } catch {
            let isClean = Belfry.exitCode(for: error) == .success
            say(Belfry.fullMessage(for: error), to: isClean ? .output : .error)
            return isClean ? 0 : 2
        }
    }

    /// Writes a line.
    static func say(_ text: String, to stream: StandardStream) {
        do throws(SystemCallError) {
            try stream.write(text + "\n")
        } catch {
            // Nobody reads it, and the exit code tells what matters.
            return
        }
    }
}

/// A command that does something.
protocol ToolCommand: ParsableCommand {
    /// Does it.
    func perform() async throws(ToolError)
}

/// The program and its commands.
struct Belfry: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "belfry",
        abstract: "A notification broker over HTTP and WebSocket, and a client for it.",
        subcommands: [
            Serve.self, Post.self, Observe.self, Observers.self, Explain.self, CheckConfig.self,
            Healthcheck.self, Version.self,
        ])
}
