import BelfryCluster
import BelfryWire

extension Problem {
    /// The problem of a command that was not applied, or has an unknown outcome.
    init(_ failure: CommandFailure) {
        switch failure {
        case .unavailable(let reason): self.init(reason)
        case .unknownOutcome:
            self.init(
                .outcomeUnknown,
                """
                The cluster did not confirm this in time, and may still do it. Repeat a post or an \
                ask with the same Idempotency-Key to do it once; look before you repeat others.
                """)
        }
    }

    /// The problem of a broker that takes no commands.
    init(_ reason: Unavailability) {
        switch reason {
        case .draining: self = .isStopping
        case .busy:
            self.init(
                .overloaded, "Too many commands wait for the log of the cluster; try again later.")
        case .tooLarge(let byteLimit):
            self.init(
                .contentTooLarge,
                """
                This needs more than \(byteLimit) bytes, the limit of an entry of the cluster's \
                log; send it in parts.
                """)
        default:
            self.init(
                .storeUnavailable, reason.sentence,
                members: [Member("reason", string: Array(reason.word.utf8))])
        }
    }
}

extension Unavailability {
    /// The reason in a word, for `reason` of the problem.
    var word: String {
        switch self {
        case .catchingUp: "catching-up"
        case .fenced: "fenced"
        case .noQuorum: "no-quorum"
        case .full: "full"
        case .busy, .draining, .tooLarge: "busy"
        case .stopped(let reason): reason.word
        }
    }

    /// The reason as a sentence.
    fileprivate var sentence: String {
        switch self {
        case .catchingUp: "The broker is still reading the log of the cluster; try again later."
        case .fenced: "The broker has lost the cluster and is reconnecting; try again later."
        case .noQuorum: "The engine of the cluster accepts no writes now; nothing was done."
        case .full: "The log of the cluster is full; nothing was done."
        case .busy, .draining, .tooLarge: "The broker accepts no commands now."
        case .stopped(let reason): "The broker has stopped: \(reason.sentence)"
        }
    }
}

extension StopReason {
    /// The reason in a word, for `reason` of the problem.
    fileprivate var word: String {
        switch self {
        case .otherPast, .lostEntries, .noSnapshot, .brokenSnapshot, .unreadable: "lost-entries"
        case .tooOld, .tooOldForLevel: "too-old"
        case .nameIsTaken, .isOneTooMany: "fenced"
        }
    }

    /// The reason as a sentence for an operator.
    var sentence: String {
        switch self {
        case .otherPast(let index):
            """
            entry \(index) of the log has another history; the engine has lost entries, or two \
            brokers compute differently.
            """
        case .lostEntries(let index):
            "the engine has lost entry \(index) of the log, which this broker has applied."
        case .noSnapshot(let index):
            "the log begins with entry \(index), and no snapshot reaches that entry."
        case .brokenSnapshot(let index): "the snapshot of entry \(index) cannot be read."
        case .tooOld(let index): "this program is too old for entry \(index) of the log."
        case .tooOldForLevel(let level):
            "this program is too old for level \(level) of the cluster."
        case .unreadable(let index): "entry \(index) of the log is damaged."
        case .nameIsTaken: "another process has started under the name of this broker (--node)."
        case .isOneTooMany(let limit): "the cluster has \(limit) brokers already."
        }
    }
}
