import ArgumentParser
import BelfryClient
import BelfryServer
import BelfrySystem

@main
enum Program {
    static func main() {
        Belfry.exit(withError: ExitCode(run(Array(CommandLine.arguments.dropFirst()))))
    }

    /// Runs a command line on the main thread, and gives the exit code.
    ///
    /// It is 0 when all went well, 1 for a failure, 2 for a wrong command line, and 3 for an ask
    /// without the answer of a responder.
    nonisolated static func run(_ arguments: [String]) -> Int32 {
        do {
            if let fault = Suggestion.fault(in: arguments) { throw ToolError.usage(fault) }
            switch try Belfry.parseAsRoot(Respond.withOption(arguments)) {
            case let command as any BlockingCommand: try command.perform()
            case let command as any ClientCommand: return try run(command)
            case is Belfry:
                Screen.say(Belfry.helpMessage(), to: .error)
                return 2
            case let group where !type(of: group).configuration.subcommands.isEmpty:
                Screen.say(Belfry.helpMessage(for: type(of: group)), to: .error)
                return 2
            case var help: try help.run()
            }
            return 0
        } catch let error as ToolError {
            return report(error)
        } catch {
            if let fault = Suggestion.optionFault(Belfry.message(for: error), in: arguments) {
                return report(.usage(fault))
            }
            let isClean = Belfry.exitCode(for: error) == .success
            Screen.say(Belfry.fullMessage(for: error), to: isClean ? .output : .error)
            return isClean ? 0 : 2
        }
    }

    private static func run(_ command: any ClientCommand) throws(ToolError) -> Int32 {
        let command = command
        do throws(ClientError) {
            return try StopSignals.run { signals in
                do throws(ToolError) {
                    try await command.perform(signals)
                    return 0
                } catch {
                    return report(error)
                }
            }
        } catch {
            throw ToolError(error)
        }
    }

    private static func report(_ error: ToolError) -> Int32 {
        Screen.say("belfry: \(error.text)", to: .error)
        return error.exitCode
    }
}

/// The program and its commands.
struct Belfry: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "belfry",
        abstract: "A notification broker over HTTP and WebSocket, and a client for it.",
        version: "belfry \(Server.version)",
        subcommands: [NamesCommand.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Post, observe and ask",
                subcommands: [
                    Post.self, Observe.self, History.self, MailboxCommand.self, AskCommand.self,
                    FateCommand.self, Respond.self, Work.self, ValueCommand.self,
                ]),
            CommandGroup(
                name: "Look inside and remove",
                subcommands: [
                    Observers.self, Clients.self, Channels.self, Responders.self, Asks.self,
                    Values.self, ArchiveCommand.self, Queue.self, Modes.self, Explain.self,
                    Reports.self, Remove.self,
                ]),
            CommandGroup(
                name: "Run a broker",
                subcommands: [
                    Serve.self, CheckConfig.self, DefaultConfig.self, GenToken.self,
                    CheckToken.self, Doctor.self, Bench.self, Healthcheck.self, Backup.self,
                    ClusterCommands.self,
                    Version.self,
                ]),
        ])
}
