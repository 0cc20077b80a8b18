extension ServerLoop {
    /// Handles a timer that has fired.
    mutating func meetTimer(_ timer: LoopTimer) {
        switch timer {
        case .stop: continueStopping()
        case .throttle: releaseThrottled()
        case .centers: host.meetCenterDeadline(&outbox)
        case .polls: host.meetPollDeadline(&outbox)
        case .fates:
            host.asks.meetDeadline(&outbox)
            host.answerFates(&outbox)
        case .values:
            host.values.meetDeadline(&outbox)
            host.answerValues(&outbox)
        case .promises: host.promises.meetTimer(&outbox)
        case .drainDelay: drain()
        case .limits: outbox.meetLimitDeadline()
        case .leftCenters: host.endLeftCenters(&outbox)
        case .trims: host.kept.isTimerSet = false
        case .history: noteHistory()
        case .progress: logProgress()
        case .log: tickLog()
        }
    }
}
