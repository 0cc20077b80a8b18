import BelfryClient
import BelfrySystem

/// The outcome of a notification that a mailbox had.
enum MailboxOutcome {
    /// It may be acknowledged.
    case done
    /// It stays in the mailbox, and is taken again.
    case again
    /// It stays in the mailbox, and no more are taken.
    case over
}

/// The work on the notifications of a mailbox.
protocol MailboxConsumer {
    /// How many one look may bring: 1 where each is acknowledged before the next one is begun.
    var pageLimit: Int { get }

    /// Takes the next one.
    mutating func take(_ notification: ReceivedNotification) async throws(ToolError)
        -> MailboxOutcome
}

/// Prints notifications; one is done when it is written.
struct NotificationPrinter: MailboxConsumer {
    let shape: NotificationLine
    let pageLimit = 1_000

    func take(_ notification: ReceivedNotification) -> MailboxOutcome {
        Following.write(shape.line(notification)) ? .done : .over
    }
}

/// Runs a command for each notification; one is done when the command ends with exit code 0.
struct NotificationWorker: MailboxConsumer {
    let command: NotificationCommand
    let pageLimit = 1
    private var backOff = BackOff(ClientOptions())
    private var random = SystemRandom()

    init(command: NotificationCommand) {
        self.command = command
    }

    mutating func take(
        _ notification: ReceivedNotification
    ) async throws(ToolError) -> MailboxOutcome {
        guard notification.answerBy == nil else {
            throw .failure(
                "the mailbox is that of a responder, whose asks need answers: use `belfry respond` "
                    + "or `belfry work`")
        }
        let fault: String
        do throws(Refusal) {
            let outcome = try await command.run(for: notification)
            show(outcome.output, on: .output)
            show(outcome.errorOutput, on: .error)
            if outcome.exitCode == 0 {
                backOff.reset()
                return .done
            }
            fault = "\(command.words[0]) ended with exit code \(outcome.exitCode)"
        } catch {
            fault = error.reason
        }
        // A command that a signal has ended is begun again by the next follower.
        if Task.isCancelled { return .over }
        let pause = backOff.nextPause(using: &random)
        Screen.say(
            "belfry: \(fault); seq \(notification.sequence) is tried again within "
                + "\(pause.components.seconds + 1) s", to: .error)
        // A cancelled task ends the sleep early, and its next look is none.
        try? await Task.sleep(for: pause)
        return .again
    }

    private func show(_ output: [UInt8], on stream: StandardStream) {
        let line = NotificationCommand.line(output)
        guard !line.isEmpty else { return }
        // The exit code counts, whether or not there is a reader.
        try? Screen.write(PrintedLine(line), to: stream)
    }
}
