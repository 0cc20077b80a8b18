import ArgumentParser
import BelfryCenter
import BelfryClient

/// Suggestions for a command or an option that does not exist.
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

    /// A sentence on an option that a command does not have, in place of what the parser says of
    /// it.
    ///
    /// The parser suggests whatever is nearest, also where nothing is near.
    static func optionFault(_ message: String, in arguments: [String]) -> String? {
        let start = "Unknown option '"
        guard message.hasPrefix(start) else { return nil }
        let option = message.dropFirst(start.count).prefix { $0 != "'" && $0 != "=" }
        var command: any ParsableCommand.Type = Belfry.self
        var path = ["belfry"]
        for word in arguments {
            let commands = command.configuration.subcommands
            guard let next = commands.first(where: { $0._commandName == word }) else { break }
            command = next
            path.append(word)
        }
        let near = near(String(option.drop { $0 == "-" }), options(of: command))
        let list = "`\((path + ["--help"]).joined(separator: " "))` lists them."
        let hint = near.map { "Do you mean `--\($0)`?" } ?? list
        return "There is no option `\(option)`. \(hint)"
    }

    private static func options(of command: any ParsableCommand.Type) -> [String] {
        let dump = JSONObject(Array(command._dumpHelp().utf8))
        let rows = dump?.raw("command").flatMap(JSONObject.init)?.objects("arguments") ?? []
        let shown = rows.filter { $0.raw("shouldDisplay") == Array("true".utf8) }
        return shown.filter { $0.string("kind") != "positional" }.flatMap { row in
            row.objects("names").compactMap { $0.string("name") }
        }
    }

    private static func shown(_ commands: [any ParsableCommand.Type]) -> [String] {
        commands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
    }

    /// The name that is a slip away.
    static func near(_ word: String, _ names: [String]) -> String? {
        names.first { EditDistance.isSlip(Array($0.utf8).span, Array(word.utf8).span) }
    }
}
