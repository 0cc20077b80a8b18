/// A kind of step.
enum StepKind: CaseIterable {
    case connect, connectEvents, cut, comeBack, takeOver
    case addObserver, addMailbox, removeObserver, removeObservers, removeClient
    case suspend, resume
    case postPlain, postNow, postAsap, postIdle, postBatch, postAgain
    case read, readAll, acknowledge, acknowledgeOld, refuse
    case readMailbox, poll, stream, detach
    case dequeue, dequeueEntry, enterMode, leaveMode
    case advance, advanceFar, endTurn, idle
    case commit, crash, restart, trim, configure

    /// How often it happens beside the others.
    var weight: Int {
        switch self {
        case .postPlain, .postAsap: 30
        case .postNow, .postIdle, .postBatch: 15
        case .read, .endTurn, .acknowledge: 30
        case .readAll, .commit: 15
        case .addObserver, .comeBack, .connect: 10
        case .addMailbox, .readMailbox, .poll, .stream, .detach: 6
        case .cut, .suspend, .resume, .idle, .advance: 10
        case .connectEvents, .takeOver, .removeObserver, .acknowledgeOld, .refuse, .postAgain: 4
        case .enterMode, .leaveMode, .dequeue, .dequeueEntry: 5
        case .removeObservers, .removeClient, .advanceFar: 2
        case .trim: 5
        case .crash, .restart, .configure: 1
        }
    }

    /// Whether a seed can do without it: some kinds only make sense together.
    var canBeLeftOut: Bool {
        switch self {
        case .endTurn, .addObserver, .connect, .read, .commit, .comeBack, .leaveMode: false
        default: true
        }
    }
}
