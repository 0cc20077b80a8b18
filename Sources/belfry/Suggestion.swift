import ArgumentParser
import BelfryCenter

/// What somebody may have meant by a command that there is not.
enum Suggestion {
    /// A sentence on the first word of a command line that is no command, if there is one.
    static func fault(in arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = Belfry.self
        var path = ["belfry"]
        for word in arguments {
            let commands = command.configuration.subcommands
            if commands.isEmpty || word.hasPrefix("-") || word == "help" { return nil }
            let names = commands.map { $0._commandName }
            guard let place = names.firstIndex(of: word) else {
                let list = "`\((path + ["--help"]).joined(separator: " "))` lists them."
                let near = near(word, shown(commands)).map { "Do you mean `\($0)`?" }
                return "There is no command `\(word)`. \(near ?? list)"
            }
            command = commands[place]
            path.append(word)
        }
        return nil
    }

    private static func shown(_ commands: [any ParsableCommand.Type]) -> [String] {
        commands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
    }

    /// The name that is a slip away.
    static func near(_ word: String, _ names: [String]) -> String? {
        names.first { EditDistance.isSlip(Array($0.utf8).span, Array(word.utf8).span) }
    }
}
