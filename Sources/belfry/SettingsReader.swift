import BelfrySystem

/// Joins flags, environment, file and defaults into settings.
struct SettingsReader {
    /// The texts of the flags that were given, by option name.
    var flags: [String: String] = [:]
    /// The file that `--config` names.
    var configPath: String?
    /// The variables of the environment; an empty one counts as unset.
    var environment: [String: String] = [:]
    /// Reads the file at a path.
    var readFile: (String) throws(SystemCallError) -> [UInt8] = { path throws(SystemCallError) in
        try WholeFile.read(path: path, byteLimit: 1 << 20)
    }

    /// The effective settings.
    ///
    /// - Throws: `.usage` for a flag and `.failure` for anything else that cannot be read.
    func settings() throws(ToolError) -> Settings {
        var settings = Settings()
        try checkPlace()
        if let name = Environment.unknown(in: environment) { throw .failure(name) }
        let file = try fileTexts()
        for setting in Setting.all {
            if let text = flags[setting.name] {
                try read(setting, text, "--\(setting.name)", isFlag: true, &settings)
            } else if let text = environment[setting.variable], !text.isEmpty {
                try read(setting, text, setting.variable, isFlag: false, &settings)
            } else if let text = file[setting.name] {
                let place = "\(setting.name) in \(path ?? "")"
                try read(setting, text, place, isFlag: false, &settings)
            }
        }
        return settings
    }

    /// Refuses a directory beside `--in-memory`: one of them would be passed over in silence.
    ///
    /// A file may have both, as `belfry check-config` prints all options.
    private func checkPlace() throws(ToolError) {
        let sentence =
            "--in-memory keeps nothing on disk, and --data names a directory: leave out one."
        if flags["in-memory"] == "true", flags["data"] != nil { throw .usage(sentence) }
        let isInMemory = ["true", "1"].contains(environment["BELFRY_IN_MEMORY"])
        if isInMemory, environment["BELFRY_DATA"]?.isEmpty == false, flags["in-memory"] == nil {
            throw .failure(
                sentence.replacing("--in-memory", with: "BELFRY_IN_MEMORY").replacing(
                    "--data", with: "BELFRY_DATA"))
        }
    }

    private var path: String? {
        configPath ?? environment["BELFRY_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    }

    private func fileTexts() throws(ToolError) -> [String: String] {
        guard let path else { return [:] }
        let json: [UInt8]
        do throws(SystemCallError) {
            json = try readFile(path)
        } catch {
            throw .failure("\(path) cannot be read: \(error)")
        }
        do throws(ConfigurationFile.Fault) {
            return try ConfigurationFile.read(json)
        } catch {
            throw .failure("\(path): \(error.text)")
        }
    }

    private func read(
        _ setting: Setting, _ text: String, _ place: String, isFlag: Bool,
        _ settings: inout Settings
    ) throws(ToolError) {
        do throws(Setting.Fault) {
            try setting.read(text, &settings)
        } catch {
            let sentence = "\(place): \(error.text)"
            throw isFlag ? .usage(sentence) : .failure(sentence)
        }
    }
}

/// The environment of the process.
enum Environment {
    /// The variables besides those of options: of the program, and of the project's scripts.
    private static let others: Set<String> = [
        "BELFRY_CONFIG", "BELFRY_URL", "BELFRY_TOKEN", "BELFRY_CA", "BELFRY_BINARY",
        "BELFRY_TOOLS", "BELFRY_ADDRESS", "BELFRY_EXAMPLES", "BELFRY_RELEASE",
        "BELFRY_BENCHMARKS", "BELFRY_FUZZ", "BELFRY_FUZZ_BUILD", "BELFRY_FUZZ_TARGET",
    ]

    /// A sentence on a variable that begins with `BELFRY_` and is not known, if there is one.
    ///
    /// Kubernetes sets `BELFRY_PORT…` and `BELFRY_SERVICE_…` in each container beside a service
    /// that is called belfry.
    static func unknown(in environment: [String: String]) -> String? {
        let known = others.union(Setting.all.map(\.variable))
        let unknown = environment.keys.filter { name in
            name.hasPrefix("BELFRY_") && !known.contains(name) && name != "BELFRY_PORT"
                && !name.hasPrefix("BELFRY_PORT_") && !name.hasPrefix("BELFRY_SERVICE_")
        }
        guard let name = unknown.min() else { return nil }
        let option = name.dropFirst("BELFRY_".count).lowercased().replacing("_", with: "-")
        let hint = Setting.near(option).map { " Do you mean \($0.variable)?" } ?? ""
        return "The environment variable \(name) is not an option.\(hint)"
    }

    /// Its variables, as they were when the process started (proc(5)).
    ///
    /// - Throws: `.failure`: to go on without them would ignore what an operator has set.
    static func variables() throws(ToolError) -> [String: String] {
        do throws(SystemCallError) {
            return variables(
                of: try WholeFile.read(path: "/proc/self/environ", byteLimit: 16 << 20))
        } catch {
            throw .failure("the environment cannot be read: \(error)")
        }
    }

    /// Splits `NAME=VALUE` between zero bytes; the first of a name counts.
    static func variables(of bytes: [UInt8]) -> [String: String] {
        var variables: [String: String] = [:]
        for entry in bytes.split(separator: 0) {
            guard let mark = entry.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: entry[..<mark], as: UTF8.self)
            guard variables[name] == nil else { continue }
            variables[name] = String(decoding: entry[(mark + 1)...], as: UTF8.self)
        }
        return variables
    }
}
