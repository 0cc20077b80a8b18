import BelfryClient
import BelfrySystem

// Asks that a command answers.
extension NotificationCommand {
    /// The exit code that hands on: EX_TEMPFAIL of sysexits.h.
    private static let passCode: Int32 = 75

    /// Runs the command for an ask, and makes the answer of its output and exit code.
    ///
    /// - Parameter takesText: whether output that is not JSON is a text, and no fault.
    func answer(to ask: Ask, takesText: Bool) async throws -> String {
        let outcome: ChildProcess.Outcome
        do throws(Refusal) {
            outcome = try await run(for: ask.notification)
        } catch {
            Screen.say("belfry: \(error.reason)", to: .error)
            throw error
        }
        let fault = String(decoding: Self.line(outcome.errorOutput), as: UTF8.self)
        if !fault.isEmpty { Screen.say(fault, to: .error) }
        switch outcome.exitCode {
        case 0: return Self.answer(Self.line(outcome.output), takesText: takesText)
        case Self.passCode: return try ask.pass()
        case let code:
            throw Refusal(fault.isEmpty ? "\(words[0]) ended with exit code \(code)." : fault)
        }
    }

    private static func answer(_ output: [UInt8], takesText: Bool) -> String {
        let text = String(decoding: output, as: UTF8.self)
        if output.isEmpty { return JSONText.null.json }
        return takesText && !ArgumentText.isJSON(output) ? JSONText.text(text).json : text
    }
}
