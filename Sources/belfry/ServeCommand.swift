import ArgumentParser
import BelfryServer
import BelfrySystem

/// `belfry serve`.
struct Serve: BlockingCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the broker.",
        usage: "belfry serve [<options>]",
        discussion: """
            Each option is also a variable of the environment (BELFRY_ and its name, as in \
            BELFRY_MAX_BODY) and a key of the file that --config or BELFRY_CONFIG names. Flags win \
            over the environment, and that over the file. Times are 500ms, 8s, 5m or 24h, sizes \
            512KiB or 1MiB. A switch is turned off with --no- before its name.

            \(SettingsDocument.help)
            """)

    @OptionGroup var options: ServeOptions

    func perform() throws(ToolError) {
        let settings = try options.settings()
        let log = try ServeLog(settings)
        defer { log.close() }
        noteNewDirectory(settings, log)
        do throws(StartError) {
            try Server.run(
                settings.configuration, log: log.server,
                reload: { try options.settings().configuration })
        } catch {
            throw ToolError(error, dataDirectory: settings.dataDirectory)
        }
    }

    /// Reports a new directory, which the operator may not expect.
    private func noteNewDirectory(_ settings: Settings, _ log: ServeLog) {
        guard let directory = settings.configuration.dataDirectory else { return }
        do throws(SystemCallError) {
            _ = try FileSystem(of: directory)
        } catch {
            // ENOENT of errno(3); the start tells of another one.
            guard error.errno == 2 else { return }
            log.note("making the data directory", ("directory", directory))
        }
    }
}

/// `belfry check-config`.
struct CheckConfig: BlockingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check the options of serve, and print what would be in effect.",
        usage: "belfry check-config [--json] [<options of serve>]",
        discussion: """
            On a terminal it prints a list; elsewhere, and with --json, a file for --config.
            """)

    @OptionGroup var options: ServeOptions

    func perform() throws(ToolError) {
        var serving = options
        let isForPrograms = serving.takeJSONFlag()
        var settings = try serving.settings()
        settings.server = settings.server.fittedToMemory()
        let log = try ServeLog(settings)
        defer { log.close() }
        do throws(StartError) {
            try Server.check(settings.configuration, log: log.server)
        } catch {
            throw ToolError(error, dataDirectory: settings.dataDirectory)
        }
        if let fault = Server.certificateFault(of: settings.configuration) { throw .failure(fault) }
        // Printed beside the file, which is standard output.
        let callers = Array(Finding.text(Doctor.exposure(settings)).utf8)
        do throws(SystemCallError) {
            try Screen.write(PrintedLine(callers), to: .error)
        } catch {
            throw ToolError(error)
        }
        let isForPeople = !isForPrograms && StandardStream.output.isTerminal
        try Report.write(isForPeople ? Array(settings.text.utf8) : settings.json)
    }
}

/// `belfry default-config`.
struct DefaultConfig: BlockingCommand {
    static let configuration = CommandConfiguration(
        commandName: "default-config",
        abstract: "Print a file for --config with every option, its default and its help.")

    func perform() throws(ToolError) {
        try Report.write(Array(SettingsDocument.file.utf8))
    }
}

/// The options of `belfry serve`, which the rows of `Setting` read.
struct ServeOptions: ParsableArguments {
    @Argument(
        parsing: .captureForPassthrough,
        help: .value("The options below; `belfry serve --help` explains them.", "OPTIONS"),
        completion: Completing.serveOptions)
    var arguments: [String] = []

    func validate() throws {
        guard arguments.contains("--help") || arguments.contains("-h") else { return }
        throw CleanExit.helpRequest()
    }

    /// Removes `--json`, which is no option of `serve`, and returns whether it was there.
    mutating func takeJSONFlag() -> Bool {
        let count = arguments.count
        arguments.removeAll { $0 == "--json" }
        return arguments.count < count
    }

    /// The settings that these options, the environment and the file give.
    func settings() throws(ToolError) -> Settings {
        let given = try GivenOptions(arguments)
        var reader = SettingsReader()
        reader.flags = given.texts
        reader.configPath = given.configPath
        reader.environment = try Environment.variables()
        return try reader.settings()
    }
}

/// `belfry version`.
struct Version: BlockingCommand {
    static let configuration = CommandConfiguration(abstract: "Print the version.")

    func perform() throws(ToolError) {
        try Report.write(Array("belfry \(Server.version)".utf8))
    }
}

extension ToolError {
    init(_ error: StartError, dataDirectory: String) {
        switch error {
        case .configuration(let sentence), .certificate(let sentence), .keys(let sentence):
            self = .failure(sentence)
        case .cluster(let sentence): self = .usage(sentence)
        // EADDRINUSE of errno(3).
        case .listen(let address, let error) where error.errno == 98:
            self = .failure(
                "\(address): \(error). Another program uses this address, perhaps another Belfry: "
                    + "`belfry doctor` says whether it is one.")
        case .listen(let address, let error): self = .failure("\(address): \(error)")
        case .store(let sentence):
            self = .failure("the data directory \(dataDirectory): \(sentence)")
        case .system(let error): self = .failure("\(error)")
        }
    }
}
