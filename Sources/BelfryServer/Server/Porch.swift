import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWire

/// The broker before its state is restored: it listens, and says that it is alive and not ready.
///
/// It is a loop without a store on a thread of its own, so that nothing that is read or built holds it
/// up. Each of its answers is the last one of its connection (decision 55).
struct Porch: ~Copyable {
    private let mailbox: LoopMailbox<LoopMessage>
    private let progress: StartProgress
    /// Whether the listeners are nobody's.
    private let hasLeft: Monitor<Bool>

    /// Begins to answer at listeners, which close with it unless they are left to the broker.
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
        // Nobody waits for its end: who came to it may ask for a while after the start.
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

    /// Leaves the listeners to the broker, whose state is restored, with whoever waits at them.
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
    /// How often that is.
    static let progressInterval: Duration = .seconds(1)

    /// Answers those who came before the listeners were left, if they ask soon.
    mutating func answerTheRest() throws(SystemCallError) {
        let deadline = outbox.loop.now + StopSequence.patience
        // It ends the last wait.
        _ = outbox.loop.schedule(at: deadline, LoopTimer.progress.rawValue)
        var input = [UInt8](repeating: 0, count: ReadingPass.inputByteCount)
        while outbox.loop.connectionCount > 0, outbox.loop.now < deadline {
            handle(try outbox.loop.nextEvent(into: &input), input: input.span)
        }
    }

    /// Has the progress logged each second from now on.
    mutating func armProgress() {
        _ = outbox.loop.schedule(
            at: outbox.loop.now + Self.progressInterval, LoopTimer.progress.rawValue)
    }

    /// Logs how far the start has come.
    mutating func logProgress() {
        guard let progress = outbox.shared.progress, !progress.isOver else { return }
        outbox.log.write(.info, "restoring", ("restored", progress.text))
        armProgress()
    }
}

extension Problem {
    /// What is said of everything that is asked before the state is restored.
    static func isRestoring(_ progress: StartProgress) -> Problem {
        Problem(
            .restoring, "The broker is starting and reads its store; try again later.",
            members: [.init("restored", json: Array(progress.text.utf8))])
    }
}
