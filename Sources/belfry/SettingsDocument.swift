/// The texts about all options: the help of `serve`, `Options.md` and `default-config`.
enum SettingsDocument {
    /// The list of options in the help.
    static var help: String {
        let config =
            "  --config FILE\n"
            + wrapped("Read options from this JSON file.", indent: 6) + "\n"
        return Setting.groups.map { group in
            group.title + ":\n" + group.settings.map(help).joined()
        }.joined(separator: "\n") + "\nThe file:\n" + config
    }

    private static func help(_ setting: Setting) -> String {
        let flag = "  " + flag(setting) + "\n"
        return flag + wrapped(setting.help + " (" + facts(setting) + ")", indent: 6) + "\n"
    }

    /// How the flag is written.
    static func flag(_ setting: Setting) -> String {
        guard let form = setting.form else { return "--\(setting.name), --no-\(setting.name)" }
        return "--\(setting.name) \(form)"
    }

    private static func facts(_ setting: Setting) -> String {
        var facts: [String] = []
        if let range = setting.range { facts.append(range) }
        if setting.isRepeatable { facts.append("repeatable") }
        facts.append("default: \(setting.defaultText)")
        return facts.joined(separator: "; ")
    }

    /// Words in lines of at most 78 columns.
    static func wrapped(_ text: String, indent: Int) -> String {
        let start = String(repeating: " ", count: indent)
        var lines = [start]
        for word in text.split(separator: " ") {
            let last = lines.count - 1
            if lines[last].count + word.count + 1 > 78, lines[last].count > indent {
                lines.append(start + word)
            } else {
                lines[last] += (lines[last].count == indent ? "" : " ") + word
            }
        }
        return lines.joined(separator: "\n")
    }

    // MARK: The page

    /// `Documentation/Options.md`.
    static var page: String {
        """
        # Options

        `belfry serve` and `belfry check-config` take each of these as a flag, as an environment \
        variable (`--max-body` is
        `BELFRY_MAX_BODY`) and as a key of the JSON file that `--config FILE` or `BELFRY_CONFIG` \
        names (`"max-body"`). Flags win over
        the environment, that over the file, and that over the defaults. An unknown flag, an \
        unknown key of the file, and
        an unknown variable that begins with `BELFRY_` are errors.

        - `belfry check-config` prints what is in effect, in a pipe as a file; `belfry \
        default-config` prints a file with every option, its
          default and its help. Lines of a file that begin with `//` are comments.
        - Times are a whole number with `ms`, `s`, `m`, `h` or `d`. Sizes are a whole number of \
        bytes, or one with `KiB`, `MiB` or
          `GiB`. A repeatable option is an array in the file, or text with commas; in the \
        environment it has commas. A switch is `--name` or
          `--no-name`, and `true` or `false` elsewhere.
        - SIGHUP reads files, keys and certificates again, takes what can change while the broker \
        runs, and logs what needs a restart.
          SIGTERM and SIGINT stop cleanly, a second one stops at once.
        - Exit codes: 0 is a clean stop, 1 a failure, 2 a wrong command line.
        - What happens past a limit stands in [Protocol.md](Protocol.md), section 11. Where the \
        memory is limited the limits of memory are
          lowered to fit; the log and `check-config` tell to what.

        The tables are made of the rows that the program reads its options by; a test holds them \
        equal.

        """
            + Setting.groups.map { group in
                """

                ## \(group.title)

                | option | meaning | values | default |
                | --- | --- | --- | --- |

                """
                    + group.settings.map(row).joined()
            }.joined()
    }

    private static func row(_ setting: Setting) -> String {
        let flag = escaped("`\(flag(setting))`") + (setting.isRepeatable ? ", repeatable" : "")
        let text = setting.defaultText
        let shown = setting.unset == nil && text != JSONText.noneWord ? "`\(text)`" : text
        return "| \(flag) | \(escaped(setting.help)) | \(setting.range ?? "") | \(shown) |\n"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("|", with: "\\|").replacing("*", with: "\\*")
    }

    // MARK: The file

    /// A file for `--config` with every option and its default.
    static var file: String {
        let defaults = Settings()
        var lines = [
            "// The options of `belfry serve` and their defaults. What is null is not set.",
            "// Lines that begin with // are comments.", "{",
        ]
        for group in Setting.groups {
            lines += ["", "  // \(group.title)"]
            for setting in group.settings {
                lines.append("")
                let words = setting.help + " (" + facts(setting) + ")"
                lines += wrapped(words, indent: 0).split(separator: "\n").map { "  // \($0)" }
                let value = setting.unset == nil ? setting.show(defaults).json : "null"
                let isLast = setting.name == Setting.all.last?.name
                lines.append("  \"\(setting.name)\": \(value)\(isLast ? "" : ",")")
            }
        }
        return (lines + ["}"]).joined(separator: "\n")
    }
}
