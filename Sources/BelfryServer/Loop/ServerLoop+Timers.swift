extension ServerLoop {
    /// Handles a timer that has fired.
    mutating func meetTimer(_ timer: LoopTimer) {
        switch timer {
        case .stop: continueStopping()
        case .throttle: releaseThrottled()
        case .centers: host.meetCenterDeadline(&context)
        case .polls:
            host.waits.mailboxes.expire(&context)
            host.answerPolls(&context)
        case .fates:
            host.waits.fates.expire(&context)
            host.answerFates(&context)
        case .values:
            host.waits.values.expire(&context)
            host.answerValues(&context)
        case .promises: host.promises.meetTimer(&context)
        case .drainDelay: drain()
        case .limits: context.meetLimitDeadline()
        case .leftCenters: host.endLeftCenters(&context)
        case .trims: host.kept.isTimerSet = false
        case .history: noteHistory()
        case .progress: logProgress()
        case .log: tickLog()
        }
    }
}
