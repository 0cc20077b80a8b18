import BelfryClient
import BelfrySystem

/// Asks that a program answers.
enum AskProcess {
    /// The exit code that hands on: EX_TEMPFAIL of sysexits.h.
    private static let passCode: Int32 = 75
    /// The bytes that a program may write to each of its outputs: an answer has 256 KiB at most.
    static let outputByteLimit = 1 << 20

    /// Runs a program, and makes the answer of its output and exit code.
    static func answer(
        _ ask: Ask, by command: [String], _ environment: [String: String]
    ) async throws -> String {
        var environment = environment
        environment["ASK_ID"] = ask.id
        environment["ASK_NAME"] = ask.name
        environment["ASK_OBJECT"] = ask.object
        environment["ASK_SELECTOR"] = ask.selector
        environment["ASK_TARGET"] = ask.target
        environment["ASK_ANSWER_BY"] = ask.answerBy
        let outcome: ChildProcess.Outcome
        do {
            outcome = try await run(command, environment, input: ask.userInfo?.json ?? [])
        } catch {
            // EFBIG of errno(3).
            let isTooMuch = (error as? SystemCallError)?.errno == 27
            let text =
                isTooMuch
                ? "\(command[0]) was ended: it wrote more than \(outputByteLimit >> 20) MiB"
                : "\(command[0]): \(error)"
            Program.say("belfry: \(text)", to: .error)
            throw Refusal(text)
        }
        if !outcome.errorOutput.isEmpty {
            Program.say(line(outcome.errorOutput), to: .error)
        }
        switch outcome.exitCode {
        case 0:
            let text = line(outcome.output)
            return text.isEmpty ? "null" : text
        case passCode: return try ask.pass()
        case let code:
            let text = line(outcome.errorOutput)
            throw Refusal(text.isEmpty ? "\(command[0]) ended with exit code \(code)." : text)
        }
    }

    private static func run(
        _ command: [String], _ environment: [String: String], input: [UInt8]
    ) async throws -> ChildProcess.Outcome {
        let child = try ChildProcess(command, environment: environment, input: input)
        return try await withTaskCancellationHandler {
            try await Blocking.call { () throws(SystemCallError) in
                try child.wait(byteLimit: outputByteLimit)
            }
        } onCancel: {
            child.terminate()
        }
    }

    /// The output of a program, without the line ends at its end.
    private static func line(_ bytes: [UInt8]) -> String {
        let end = bytes.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") } ?? -1
        return String(decoding: bytes[..<(end + 1)], as: UTF8.self)
    }
}
