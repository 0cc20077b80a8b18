import BelfryCenter
import BelfryLoop
import BelfryWire

// The log of a loop about its limits, and about single requests and clients.
//
// The latter is logged at `debug` and `trace`: words of the contract and numbers, and no text from
// clients. The level is compared first, so that no entry is made in vain.

extension Outbox {
    /// Records that a limit is reached; the log says so once, until it is over.
    mutating func meet(_ limit: ReachableLimit) {
        guard limits.reached.meet(limit, at: loop.now) else { return }
        log.write(
            .warning, "a limit is reached", ("limit", limit.text),
            ("option", limit.option ?? "none"), ("loop", number))
        armLimitTimer()
    }

    /// Logs the limits that are over.
    mutating func meetLimitDeadline() {
        limits.isTimerSet = false
        for (limit, count) in limits.reached.takeEnded(at: loop.now) {
            log.write(
                .info, "a limit is not reached any more", ("limit", limit.text),
                ("times", count), ("loop", number))
        }
        armLimitTimer()
    }

    private mutating func armLimitTimer() {
        guard !limits.isTimerSet, let time = limits.reached.nextEnd else { return }
        limits.isTimerSet = true
        _ = loop.schedule(at: time, LoopTimer.limits.rawValue)
    }

    /// Logs a client that was closed, unless one of this kind was logged within the last second.
    mutating func tellClosed(
        _ kind: SeldomLines.Kind, _ level: ServerLog.Level, _ message: String, client: UInt64
    ) {
        guard let untoldCount = limits.seldomLines.admit(kind, at: loop.now) else { return }
        log.write(
            level, message, ("client", "c\(client)"), ("untoldBefore", untoldCount))
    }

    /// The number of a connection in the log.
    func connectionText(_ id: ConnectionID) -> String {
        String(ConnectionNumber(loop: number, connection: id).rawValue, radix: 16)
    }

    /// Logs an answer: each at `trace`, and a refusal at `debug`.
    func tell(_ answer: Answer, _ reply: HTTPReply) {
        let asked = reply.details.asked ?? Asked()
        if case .problem(let kind) = answer.contentType {
            log.write(
                .debug, "a request was refused", ("method", asked.method), ("route", asked.route),
                ("type", kind.slug), ("connection", asked.connection))
        }
        if log.level == .trace {
            log.write(
                .trace, "a request was answered", ("method", asked.method), ("route", asked.route),
                ("status", answer.status), ("bytes", content.count),
                ("connection", asked.connection))
        }
    }

    /// Logs the gap of an observer.
    func tell(_ gap: Gap) {
        log.write(
            .debug, "an observer is told a gap", ("observer", "o\(gap.observer)"),
            ("reason", gap.reason.text),
            ("count", gap.lostCount.map { $0 as any LogValue } ?? "unknown"),
            ("firstSeq", gap.firstSequence), ("lastSeq", gap.lastSequence))
    }

    /// Logs the suspension of a client, or its end.
    @inline(__always)
    func tellSuspension(of client: UInt64, _ isSuspended: Bool, because reason: String) {
        if log.level > .debug || client == 0 { return }
        log.write(
            .debug, isSuspended ? "a client is suspended" : "a suspension is over",
            ("client", "c\(client)"), ("reason", reason))
    }
}
