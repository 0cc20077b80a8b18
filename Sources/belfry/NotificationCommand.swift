import BelfryClient
import BelfrySystem

/// The command that is run for each notification or ask, with the userInfo as its input.
struct NotificationCommand: Sendable {
    /// The bytes that a program may write to each of its outputs: an answer has 256 KiB at most.
    private static let outputByteLimit = 1 << 20

    let words: [String]
    private let environment: [String: String]

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
        let child = try ChildProcess(words, environment: environment, input: input)
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
            child.terminate()
        }.get()
    }

    /// The output of a program, without the line ends at its end.
    static func line(_ bytes: [UInt8]) -> [UInt8] {
        let end = bytes.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") } ?? -1
        return Array(bytes[..<(end + 1)])
    }
}
