import ArgumentParser
import BelfryClient
import BelfryServer

/// `belfry.1`, the manual page: made of the commands and of the rows of options.
enum ManualPage {
    /// The page as troff with the macros of man(7).
    static var page: String {
        var text = """
            .\\" This page is made of the commands by the tests: WRITE_DOCUMENTS=1 writes it anew.
            .TH BELFRY 1 "" "\(Server.version)" "Belfry"
            .SH NAME
            belfry \\- \(escaped(Belfry.configuration.abstract))
            .SH SYNOPSIS
            .B belfry
            .I COMMAND
            [\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]
            .SH DESCRIPTION
            .B belfry serve
            runs a broker. All other commands ask one that runs, or prepare one. On a terminal \
            they print what people read, and elsewhere JSON, one value a line.

            """
        for group in Belfry.configuration.groupedSubcommands {
            text += ".SH \(escaped(group.name.uppercased()))\n"
            for command in group.subcommands { text += section(command, path: ["belfry"]) }
        }
        return text + commonOptions + serveOptions + ending
    }

    // MARK: Commands

    private static func section(_ command: any ParsableCommand.Type, path: [String]) -> String {
        let configuration = command.configuration
        let path = path + [command._commandName]
        var text = ".SS \(escaped(path.joined(separator: " ")))\n"
        text += ".nf\n\(escaped(Belfry.usageString(for: command)))\n.fi\n"
        text += ".PP\n" + paragraphs(configuration.abstract)
        if !configuration.discussion.isEmpty, command != Serve.self {
            text += ".PP\n" + paragraphs(configuration.discussion)
        }
        for argument in arguments(of: command) { text += argument }
        for subcommand in configuration.subcommands {
            text += section(subcommand, path: path)
        }
        return text
    }

    /// The options of all commands that send requests, documented in a section of their own.
    private static let common: Set<String> = ["url", "ca", "token", "help", "version"]

    private static func arguments(of command: any ParsableCommand.Type) -> [String] {
        let dump = JSONObject(Array(command._dumpHelp().utf8))
        let rows = dump?.raw("command").flatMap(JSONObject.init)?.objects("arguments") ?? []
        var entries: [(flags: [String], text: String)] = []
        for row in rows where row.raw("shouldDisplay") == Array("true".utf8) {
            let names = row.objects("names").compactMap { $0.string("name") }
            guard common.isDisjoint(with: names), let help = row.string("abstract") else {
                continue
            }
            let flag = flag(row, names)
            // Switches have none that is worth a word.
            let standard = row.string("kind") == "option" ? row.string("defaultValue") : nil
            let text = standard.map { "\(help) Default: \($0)." } ?? help
            // Both halves of a switch have one text.
            if entries.last?.text == text, row.string("kind") == "flag" {
                entries[entries.count - 1].flags.append(flag)
            } else {
                entries.append(([flag], text))
            }
        }
        return entries.map { entry in
            ".TP\n\(entry.flags.joined(separator: ", "))\n\(paragraphs(entry.text))"
        }
    }

    private static func flag(_ row: JSONObject, _ names: [String]) -> String {
        let value = "\\fI\(escaped(row.string("valueName") ?? "VALUE"))\\fR"
        switch row.string("kind") {
        case "positional": return value
        case "option": return "\\fB\\-\\-\(escaped(names.first ?? ""))\\fR \(value)"
        default: return "\\fB\\-\\-\(escaped(names.first ?? ""))\\fR"
        }
    }

    // MARK: What stands once

    private static var commonOptions: String {
        let rows = JSONObject(Array(Healthcheck._dumpHelp().utf8))?.raw("command")
            .flatMap(JSONObject.init)?.objects("arguments")
        var text = """
            .SH OPTIONS OF ALL COMMANDS THAT ASK A BROKER

            """
        for row in rows ?? [] {
            let names = row.objects("names").compactMap { $0.string("name") }
            guard let name = names.last, common.contains(name), name != "version" else { continue }
            text += ".TP\n\(flag(row, [name]))\n\(paragraphs(row.string("abstract") ?? ""))"
        }
        return text
    }

    private static var serveOptions: String {
        Setting.groups.map { group in
            ".SH OPTIONS OF SERVE: \(escaped(group.title.uppercased()))\n"
                + group.settings.map { setting in
                    let range = setting.range.map { " Values: \($0)." } ?? ""
                    return ".TP\n\\fB\(escaped(SettingsDocument.flag(setting)))\\fR\n"
                        + paragraphs(
                            "\(setting.help)\(range) Default: \(setting.defaultText).")
                }.joined()
        }.joined()
    }

    private static var ending: String {
        """
        .SH ENVIRONMENT
        .TP
        BELFRY_URL, BELFRY_TOKEN, BELFRY_CA
        What \\-\\-url, \\-\\-token and \\-\\-ca say where they are left out.
        .TP
        BELFRY_CONFIG, BELFRY_\\fIOPTION\\fR
        The file of \\-\\-config, and each option of serve: BELFRY_MAX_BODY is \\-\\-max\\-body.
        .TP
        NO_COLOR
        Not empty: nothing is printed in color.
        .SH EXIT STATUS
        0 when all went well, 1 for a failure, 2 for a wrong command line, and 3 for the default \
        answer to an ask.
        .SH EXAMPLES
        .nf
        belfry serve \\-\\-in\\-memory
        belfry observe ButtonChange
        belfry post ButtonChange \\-\\-object calculator \\-\\-user\\-info '{"title":"7"}'
        token=$(belfry mailbox new Order) && belfry mailbox follow $token
        belfry bench \\-\\-observers 10 \\-\\-duration 10s
        .fi
        .SH SEE ALSO
        The documentation of the project: Guide.md, CommandLine.md, Options.md and Operating.md.

        """
    }

    // MARK: Text

    /// Text with a paragraph for each that is behind an empty line.
    private static func paragraphs(_ text: String) -> String {
        let parts = text.split(separator: "\n\n", omittingEmptySubsequences: true)
        return parts.map { escaped(String($0)) + "\n" }.joined(separator: ".PP\n")
    }

    /// Escapes text, so that troff prints it literally.
    private static func escaped(_ text: String) -> String {
        let lines = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
            .split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            // A line that begins with one of these would be a request.
            line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : String(line)
        }.joined(separator: "\n")
    }
}
