/// The options of a command line, as the rows of `Setting` know them.
struct GivenOptions: Equatable {
    /// Their texts, by name; repeated options are joined by commas.
    private(set) var texts: [String: String] = [:]
    /// The file that `--config` names.
    private(set) var configPath: String?

    /// Reads `--name VALUE`, `--name=VALUE`, `--switch` and `--no-switch`.
    ///
    /// - Throws: `.usage` for anything else.
    init(_ arguments: [String]) throws(ToolError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--"), argument.utf8.count > 2 else {
                throw .usage("`\(argument)` is not an option; options begin with --.")
            }
            let parts = argument.dropFirst(2).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            try take(String(parts[0]), parts.count > 1 ? String(parts[1]) : nil, &rest)
        }
    }

    private mutating func take(
        _ name: String, _ value: String?, _ rest: inout ArraySlice<String>
    ) throws(ToolError) {
        if let setting = Setting.named(name), setting.form == nil {
            guard value == nil else {
                throw .usage("--\(name) has no value: write --\(name) or --no-\(name).")
            }
            texts[name] = "true"
        } else if name.hasPrefix("no-"), let setting = Setting.named(String(name.dropFirst(3))),
            setting.form == nil, value == nil
        {
            texts[setting.name] = "false"
        } else if name.utf8.elementsEqual("config".utf8) {
            configPath = try self.value(of: name, value, &rest)
        } else if let setting = Setting.named(name) {
            let text = try self.value(of: name, value, &rest)
            let before = setting.isRepeatable ? texts[name].map { $0 + "," } : nil
            texts[name] = (before ?? "") + text
        } else {
            throw .usage(Self.unknown(name))
        }
    }

    private func value(
        of name: String, _ value: String?, _ rest: inout ArraySlice<String>
    ) throws(ToolError) -> String {
        if let value { return value }
        guard let next = rest.first, !next.hasPrefix("--") else {
            let form = Setting.named(name)?.form ?? "FILE"
            throw .usage("--\(name) needs a value: write --\(name) \(form).")
        }
        return rest.removeFirst()
    }

    /// Reports an unknown option, with the nearest one, if there is one.
    static func unknown(_ name: String) -> String {
        let near = Setting.near(name)
        let hint = near.map { " Do you mean --\($0.name)?" } ?? " `belfry serve --help` lists them."
        return "There is no option --\(name).\(hint)"
    }
}
