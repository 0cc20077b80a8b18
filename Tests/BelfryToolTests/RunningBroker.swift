import BelfryClient
import BelfrySystem
import Foundation
import Glibc
import Synchronization
import Testing

/// A program of which a test reads lines: belfry itself, if not another one.
///
/// That lies beside the tests, whose target depends on it.
final class RunningProgram: Sendable {
    private let process: Process
    private let input = Pipe()
    private let lines: AsyncStream<String>
    private let codes: AsyncStream<Int32>

    /// A command that ends when the program that runs it has gone, also by a kill.
    ///
    /// A program counts as running until all that it has started have ended.
    static let endless = [
        "/bin/sh", "-c",
        """
        while read -r _ _ _ parent _ </proc/$$/stat && [ $PPID != 1 ] && [ "$parent" = $PPID ]
        do sleep 0.05; done
        """,
    ]

    /// Where belfry lies: beside the tests.
    static var ownPath: String {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appending(path: "belfry").path
    }

    /// Starts a command; the lines of one of its outputs are read.
    init(
        _ arguments: [String], at path: String? = nil, readsError: Bool = false,
        atEnd: @escaping @Sendable () -> Void = {}
    ) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: path ?? Self.ownPath)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin"]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = readsError ? FileHandle.nullDevice : output
        process.standardError = readsError ? output : FileHandle.nullDevice
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        lines = stream
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        codes = ends
        process.terminationHandler = {
            end.yield($0.terminationStatus)
            atEnd()
        }
        try process.run()
        let handle = output.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while let bytes = try? handle.read(upToCount: 1), !bytes.isEmpty {
                if bytes[0] != UInt8(ascii: "\n") {
                    rest += bytes
                    continue
                }
                continuation.yield(String(decoding: rest, as: UTF8.self))
                rest = Data()
            }
            continuation.finish()
        }
    }

    deinit {
        process.terminate()
    }

    /// Waits for the next line; nil at the end.
    func line() async -> String? {
        var iterator = lines.makeAsyncIterator()
        return await iterator.next()
    }

    /// Writes a line to its input.
    func write(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends its input.
    func endInput() throws {
        try input.fileHandleForWriting.close()
    }

    /// Ends it at once, and waits for that.
    func kill() async {
        Glibc.kill(process.processIdentifier, SIGKILL)
        _ = await exitCode()
    }

    /// Asks it to end, as Ctrl-C does.
    func interrupt() {
        process.interrupt()
    }

    /// Waits for its exit code.
    func exitCode() async -> Int32? {
        var iterator = codes.makeAsyncIterator()
        return await iterator.next()
    }
}

/// A broker on loopback, and what is asked of it.
struct RunningBroker {
    let program: RunningProgram
    let url: BrokerURL

    /// Starts a broker at a free port or at this one, and waits until it listens.
    ///
    /// It is in memory or has this directory; its callers may do all but `admin`, or these verbs.
    init(port: Int = 0, directory: URL? = nil, grants: String? = nil) async throws {
        let store = directory.map { ["--data", $0.path] } ?? ["--in-memory"]
        let granting = grants.map { ["--anonymous-grants", $0] } ?? []
        program = try RunningProgram(
            ["serve", "--listen", "127.0.0.1:\(port)"] + store + granting, readsError: true)
        var address: Substring?
        while address == nil, let line = await program.line() {
            guard line.contains(#""message":"listening""#) else { continue }
            address = line.firstMatch(of: /127\.0\.0\.1:[1-9]\d*/)?.output
        }
        url = try BrokerURL("http://\(try #require(address))")
    }

    /// Starts one in memory whose callers may make archives.
    static func archiving() async throws -> RunningBroker {
        try await RunningBroker(
            grants: "post,observe,wildcard,inspect,immediate,acknowledge,admin")
    }

    /// Starts a command that talks to it.
    func start(
        _ arguments: [String], readsError: Bool = false,
        atEnd: @escaping @Sendable () -> Void = {}
    ) throws -> RunningProgram {
        // The words behind -- are not for the program.
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return try RunningProgram(
            arguments[..<end] + ["--url", "\(url)"] + arguments[end...], readsError: readsError,
            atEnd: atEnd)
    }

    /// The output of one command, and its exit code.
    func run(_ arguments: String...) async throws -> (output: [String], exitCode: Int32?) {
        let program = try start(arguments)
        var output: [String] = []
        while let line = await program.line() { output.append(line) }
        return (output, await program.exitCode())
    }

    /// Starts `belfry respond`, or `work`, with these arguments, and waits until it holds its
    /// address.
    func respond(
        _ arguments: [String], as command: String = "respond"
    ) async throws -> RunningProgram {
        let center = try await RemoteCenter.connect(to: url)
        let changes = try await center.addObserver(
            forName: "belfry.responder.changed", object: arguments[0])
        // A program that ends at once holds nothing: a test fails instead of waiting.
        let program = try start([command] + arguments) { Task { await center.close() } }
        var isHeld = false
        for try await change in changes where change.userInfo?.text.contains("held") == true {
            isHeld = true
            break
        }
        await center.close()
        try #require(isHeld)
        return program
    }

    /// Starts another broker with the port, and the directory, of this one, which has ended.
    func restarted(directory: URL) async throws -> RunningBroker {
        let port = try #require("\(url)".split(separator: ":").last.flatMap { Int($0) })
        return try await RunningBroker(port: port, directory: directory)
    }

    /// Waits until the open asks have these states.
    func waitForAsks(_ states: [String]) async throws {
        while try await openAsks() != states { await Task.yield() }
    }

    /// The states of the open asks.
    func openAsks() async throws -> [String] {
        let answer = try await HTTPRequest.get("asks").answer(from: url)
        let page = try #require(JSONObject(answer.content))
        return page.objects("asks").compactMap { $0.string("state") }
    }
}
