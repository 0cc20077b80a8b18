import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWire

/// The broker before its state is restored: it listens, and answers that it is not ready.
///
/// It is a loop without a store on a thread of its own, so that reading and building the state does
/// not delay it. Each of its answers is the last one of its connection (decision 55).
struct Porch: ~Copyable {
    private let mailbox: LoopMailbox<LoopMessage>
    private let progress: StartProgress
    /// Whether the porch no longer uses the listeners.
    private let hasLeft: Monitor<Bool>

    /// Begins to answer at listeners, and closes them unless they are left to the broker.
    init(
        at listeners: Listeners, _ certificate: TLSContext?, progress: StartProgress,
        log: ServerLog, connectionLimit: Int
    ) throws(SystemCallError) {
        var configuration = listeners.configuration
        configuration.loopCount = 1
        let mailboxes = try SharedState.makeMailboxes(loopCount: 1)
        let shared = SharedState(mailboxes: mailboxes, progress: progress)
        log.write(
            .debug, "restoring", ("addresses", configuration.addressTexts.joined(separator: ",")))
        let (real, hasLeft) = (configuration, Monitor(false))
        // Its end is not awaited: its connections may still send requests for a while after the
        // start.
        _ = try SystemThread {
            do throws(SystemCallError) {
                var server = try ServerLoop(
                    number: 0, real, shared: shared, log: log, connectionLimit: connectionLimit)
                try server.listen(with: listeners, certificate)
                server.armProgress()
                try server.run()
                if progress.isOver {
                    server.outbox.loop.leaveListeners()
                    hasLeft.change { $0 = true }
                    try server.answerTheRest()
                }
            } catch {
                log.write(.error, "the broker cannot answer while it starts", ("error", "\(error)"))
            }
            hasLeft.change { $0 = true }
        }
        mailbox = mailboxes[0]
        self.progress = progress
        self.hasLeft = hasLeft
    }

    /// Leaves the listeners to the broker, whose state is restored, with all waiting connections.
    consuming func leaveListeners() {
        progress.finish()
        _ = mailbox.post(.stop)
        let _: Bool? = hasLeft.take { $0 ? true : nil }
    }

    deinit {
        _ = mailbox.post(.stop)
    }
}

extension ServerLoop {
    /// The interval between two log entries about the progress.
    static let progressInterval: Duration = .seconds(1)

    /// Answers the connections from before the listeners were left, if they send a request soon.
    mutating func answerTheRest() throws(SystemCallError) {
        let deadline = outbox.loop.now + StopSequence.patience
        // The timer ends the last wait.
        _ = outbox.loop.schedule(at: deadline, LoopTimer.progress.rawValue)
        var input = [UInt8](repeating: 0, count: ReadingPass.inputByteCount)
        while outbox.loop.connectionCount > 0, outbox.loop.now < deadline {
            handle(try outbox.loop.nextEvent(into: &input), input: input.span)
        }
    }

    /// Schedules the next log entry about the progress.
    mutating func armProgress() {
        _ = outbox.loop.schedule(
            at: outbox.loop.now + Self.progressInterval, LoopTimer.progress.rawValue)
    }

    /// Logs the progress of the start.
    mutating func logProgress() {
        guard let progress = outbox.shared.progress, !progress.isOver else { return }
        outbox.log.write(.info, "restoring", ("restored", progress.text))
        armProgress()
    }
}

extension Problem {
    /// The problem of every request before the state is restored.
    static func isRestoring(_ progress: StartProgress) -> Problem {
        Problem(
            .restoring, "The broker is starting and reads its store; try again later.",
            members: [.init("restored", json: Array(progress.text.utf8))])
    }
}
