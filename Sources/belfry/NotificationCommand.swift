import BelfryClient
import BelfrySystem

/// The command that is run for each notification or ask, with the userInfo as its input.
struct NotificationCommand: Sendable {
    /// The bytes that a program may write to each of its outputs: an answer has 256 KiB at most.
    private static let outputByteLimit = 1 << 20

    let words: [String]
    private let environment: [String: String]
    /// The programs that run and were not asked to end; nil when no more are started.
    private let running = Monitor<[ObjectIdentifier: ChildProcess]?>([:])

    init(_ words: [String]) throws(ToolError) {
        self.words = words
        environment = try Environment.variables()
    }

    /// Runs the program, and waits for its end; a task that is cancelled sends it SIGTERM.
    ///
    /// - Throws: `Refusal` when the program cannot be started, or writes more than 1 MiB.
    func run(
        for notification: ReceivedNotification
    ) async throws(Refusal) -> ChildProcess.Outcome {
        var environment = environment
        environment["ASK_ID"] = notification.id
        environment["ASK_NAME"] = notification.name
        environment["ASK_OBJECT"] = notification.object
        environment["ASK_SELECTOR"] = notification.selector ?? notification.name
        environment["ASK_TARGET"] = notification.target
        environment["ASK_ANSWER_BY"] = notification.answerBy
        do throws(SystemCallError) {
            return try await outcome(environment, input: notification.userInfo?.json ?? [])
        } catch {
            // EFBIG of errno(3).
            throw Refusal(
                error.errno == 27
                    ? "\(words[0]) was ended: it wrote more than \(Self.outputByteLimit >> 20) MiB"
                    : "\(words[0]): \(error)")
        }
    }

    private func outcome(
        _ environment: [String: String], input: [UInt8]
    ) async throws(SystemCallError) -> ChildProcess.Outcome {
        let child = try start(environment, input: input)
        defer { running.change { $0?[ObjectIdentifier(child)] = nil } }
        let waiting: () async -> Result<ChildProcess.Outcome, SystemCallError> = {
            do throws(SystemCallError) {
                return .success(
                    try await Blocking.call { () throws(SystemCallError) in
                        try child.wait(byteLimit: Self.outputByteLimit)
                    })
            } catch {
                return .failure(error)
            }
        }
        return try await withTaskCancellationHandler(operation: waiting) {
            let isRunning = running.change { $0?.removeValue(forKey: ObjectIdentifier(child)) }
            isRunning?.terminate()
        }.get()
    }

    /// Starts the program, so that the end of all finds it.
    private func start(
        _ environment: [String: String], input: [UInt8]
    ) throws(SystemCallError) -> ChildProcess {
        let started = running.change { running -> Result<ChildProcess, SystemCallError> in
            // ECANCELED of errno(3).
            guard running != nil else {
                return .failure(SystemCallError(call: "posix_spawn", errno: 125))
            }
            do throws(SystemCallError) {
                let child = try ChildProcess(words, environment: environment, input: input)
                running?[ObjectIdentifier(child)] = child
                return .success(child)
            } catch {
                return .failure(error)
            }
        }
        return try started.get()
    }

    /// Sends SIGTERM to all programs that run, and starts no more.
    func end() {
        let last = running.change { running in
            defer { running = nil }
            return running
        }
        for child in (last ?? [:]).values { child.terminate() }
    }

    /// The output of a program, without the line ends at its end.
    static func line(_ bytes: [UInt8]) -> [UInt8] {
        let end = bytes.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") } ?? -1
        return Array(bytes[..<(end + 1)])
    }
}
