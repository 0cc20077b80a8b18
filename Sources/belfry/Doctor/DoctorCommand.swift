import ArgumentParser
import BelfryClient
import BelfryServer
import BelfrySystem

/// `belfry doctor`.
struct Doctor: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check whether a broker can run here, and suggest fixes.",
        usage: "belfry doctor [--json] [<options of serve>]",
        discussion: """
            It reads the options, the environment and the file as `belfry serve` does, and checks \
            limits, memory, the data directory and its disk, ports, the clock, certificate, keys, \
            and a broker that runs here already. It changes nothing: in the data directory it \
            writes one small file and removes it. The exit code is 1 when something is a fault, \
            and 0 when there are warnings alone.
            """)

    @OptionGroup var options: ServeOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        var serving = options
        let isForPrograms = serving.takeJSONFlag()
        let findings = try await Self.findings(try serving.settings())
        let isForPeople = !isForPrograms && StandardStream.output.isTerminal
        try Report.write(
            isForPeople ? Array(Finding.text(findings).utf8) : Finding.json(findings))
        let faultCount = findings.count { $0.state == .fault }
        if faultCount > 0 { throw .failure("\(faultCount) of these are faults") }
    }

    /// All that is found, in the order in which one looks.
    static func findings(_ settings: Settings) async throws(ToolError) -> [Finding] {
        var findings = [configuration(settings)]
        findings += machine(settings)
        if settings.isInMemory {
            findings.append(
                .ok("data", "everything is in memory, and lost with the broker (--in-memory)"))
        } else {
            findings += data(settings.dataDirectory)
        }
        findings += callers(settings)
        for address in settings.server.listenAddresses {
            findings.append(await port(address, scheme: "http"))
        }
        for address in settings.server.tlsListenAddresses {
            findings.append(await port(address, scheme: "https"))
        }
        return findings
    }

    private static func configuration(_ settings: Settings) -> Finding {
        let subject = "options"
        do throws(StartError) {
            try Server.check(settings.configuration, log: .silent)
            return .ok(subject, "a broker starts with them")
        } catch {
            let sentence = ToolError(error, dataDirectory: settings.dataDirectory).text
            return .fault(
                subject, sentence, "change the option; `belfry serve --help` explains it.")
        }
    }

    private static func machine(_ settings: Settings) -> [Finding] {
        var findings: [Finding] = []
        if let limit = try? DescriptorLimit.current() {
            findings.append(Judgement.descriptors(hard: limit.hard))
        }
        var fitted = settings
        fitted.server = settings.server.fittedToMemory()
        let lowered = Setting.all.filter { $0.show(settings).json != $0.show(fitted).json }
        findings.append(
            Judgement.memory(
                byteLimit: MemoryLimit.current(), lowered: lowered.map { "--\($0.name)" }))
        let waiting = try? WholeFile.read(path: "/proc/sys/net/core/somaxconn", byteLimit: 64)
        let digits = waiting.map { $0.prefix { (0x30...0x39).contains($0) } }
        findings.append(
            Judgement.waitingConnections(
                limit: digits.flatMap { Int(String(decoding: $0, as: UTF8.self)) }))
        findings.append(
            Judgement.clock(
                milliseconds: WallTime.now().milliseconds, isSynchronized: WallTime.isSynchronized()
            ))
        return findings
    }

    /// The directory of the data, or where it would be made.
    private static func data(_ directory: String) -> [Finding] {
        do throws(SystemCallError) {
            let fileSystem: FileSystem
            do throws(SystemCallError) {
                fileSystem = try FileSystem(of: directory)
            } catch {
                // ENOENT of errno(3): serve makes the directory in the one above it.
                guard error.errno == 2 else { throw error }
                let above = parent(of: directory)
                return [
                    .ok("data", "\(directory) will be created at the first start"),
                    Judgement.place(above, try FileSystem(of: above)),
                ]
            }
            return [
                Judgement.place(directory, fileSystem),
                Judgement.space(freeByteCount: fileSystem.freeByteCount),
                Judgement.writing(try timeOfWriting(in: directory)),
            ]
        } catch {
            return [
                .fault(
                    "data", "\(directory): \(error)",
                    "give --data a directory that this user may write in (chown, chmod 700).")
            ]
        }
    }

    /// How long the disk takes until it has a small file.
    private static func timeOfWriting(in directory: String) throws(SystemCallError) -> Duration {
        var random = SystemRandom()
        let name = "doctor-" + String(random.next(), radix: 36)
        let start = MonotonicTime.now()
        let file = try NewFile(path: directory + "/" + name)
        do throws(SystemCallError) {
            try file.write([UInt8](repeating: 0, count: 4_096))
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
        let duration = MonotonicTime.now() - start
        try Directory(path: directory).remove(name)
        return duration
    }

    private static func parent(of path: String) -> String {
        var path = path[...]
        while path.utf8.count > 1, path.last == "/" { path.removeLast() }
        guard let end = path.lastIndex(of: "/") else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// The finding about callers without credentials.
    static func exposure(_ settings: Settings) -> [Finding] {
        let server = settings.server
        if server.isLoopbackOnly {
            return [
                Judgement.callers(
                    grantsAll: settings.anonymousGrants.map { !$0.rows.isEmpty },
                    means: SocketOwners().means)
            ]
        }
        return Judgement.exposure(
            isPlain: server.listenAddresses.contains { !$0.isLoopback },
            allowsAnonymous: server.allowsAnonymous,
            hasKeys: server.access.hasFiles)
    }

    private static func callers(_ settings: Settings) -> [Finding] {
        let server = settings.server
        var findings = exposure(settings)
        for (option, path) in [("keys", server.access.keysPath), ("tls-key", server.tlsKeyPath)] {
            guard let path, let isOpen = try? WholeFile.isReadableByAll(path: path) else {
                continue
            }
            if let finding = Judgement.secrecy(option, isReadableByAll: isOpen) {
                findings.append(finding)
            }
        }
        if let fault = Server.certificateFault(of: settings.configuration) {
            findings.append(
                .fault(
                    "certificate", fault,
                    "give --tls-cert and --tls-key as PEM that belong together."))
        } else if let times = Server.certificateTimes(of: settings.configuration) {
            findings.append(
                Judgement.certificate(
                    end: times.end, start: times.start, now: WallTime.now().milliseconds / 1_000))
        }
        return findings
    }

    /// Whether an address is free to listen at, and if not, whether a broker listens there.
    private static func port(_ address: SocketAddress, scheme: String) async -> Finding {
        do throws(SystemCallError) {
            try Socket.listen(at: address).socket.close()
            return .ok("port", "\(address) is free")
        } catch {
            return Judgement.port(address, error, isBroker: await isBroker(address, scheme))
        }
    }

    private static func isBroker(_ address: SocketAddress, _ scheme: String) async -> Bool {
        var request = HTTPRequest.readiness
        request.timeout = .seconds(2)
        guard scheme == "http", let own = PlaceOptions.reachable(address),
            let url = try? BrokerURL("http://\(own)", host: "localhost"),
            let answer = try? await request.answer(from: url)
        else { return false }
        return answer.isSuccess
    }
}
