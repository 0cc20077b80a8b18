import BelfryCenter

extension ShardCommand.Action {
    /// Whether it reports a fact that no client waits for: it may be late, but it must come.
    var mustHappen: Bool {
        switch self {
        case .tell(_, let action): action.mustHappen
        case .nodeUp, .nodeDown: true
        case .makeCenter, .endCenter, .level, .configure, .makeTicket, .useTicket, .nothing:
            false
        }
    }
}

extension Command.Action {
    fileprivate var mustHappen: Bool {
        switch self {
        case .onConnection(_, let action), .within(_, let action): action.mustHappen
        case .disconnect, .becomeSlow, .drain, .detachReader, .leaveAsk, .showAnnounced, .endTurn,
            .idle, .passTime, .terminate, .trimHeld, .trim, .trimOwned:
            true
        case .configure, .connect, .resume, .setSuspended, .post, .postBatch, .acknowledge, .ask,
            .withdraw, .answer, .setValue, .mergeValue, .removeValue, .addObserver, .removeObserver,
            .removeObservers, .removeClient, .readMailbox, .attachStream, .dequeue, .dequeueEntry,
            .enterMode, .leaveMode, .putArchive, .removeArchive, .forget:
            false
        }
    }
}
