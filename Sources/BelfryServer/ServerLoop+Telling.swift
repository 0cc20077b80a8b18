import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// What the log tells of single requests and clients, at `debug` and `trace`: words of the contract and
// numbers, and nothing that somebody has written. Callers compare the level first, so that nothing is made
// of it otherwise.

/// What a request asked for, as the log tells it.
struct Asked: Sendable {
    var method = "none"
    /// The path as the contract writes it.
    var route = "none"
    /// The connection, as a number that no other one has at the same time.
    var connection = "none"
}

extension ServerLoop {
    /// Keeps what the request asked for with its reply, wherever that is made.
    mutating func noteAsked(on id: ConnectionID) {
        let route = exchange.plainPostName == nil ? exchange.path?.route : .channelPost(name: [])
        exchange.reply.details.asked = Asked(
            method: exchange.parser.head.method.name ?? "other", route: route?.pattern ?? "none",
            connection: connectionText(id))
    }

    /// The number of a connection in the log.
    func connectionText(_ id: ConnectionID) -> String {
        String(ConnectionNumber(loop: number, connection: id).rawValue, radix: 16)
    }

    /// Tells of an answer: each at `trace`, and one that refuses at `debug`.
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
                ("status", "\(answer.status)"), ("bytes", "\(answerContent.count)"),
                ("connection", asked.connection))
        }
    }

    /// Tells of a call: each at `trace` before it is performed, and one that is refused at `debug`.
    func tell(_ method: Method, _ problem: Problem?, _ frame: CallFrame) {
        let client = "c\(frame.client.number)"
        if let problem {
            log.write(
                .debug, "a call was refused", ("method", method.rawValue),
                ("type", problem.kind.slug), ("client", client))
        } else {
            log.write(.trace, "a call", ("method", method.rawValue), ("client", client))
        }
    }

    /// Tells that an observer is told what it lost.
    func tell(_ gap: Gap) {
        log.write(
            .debug, "an observer is told a gap", ("observer", "o\(gap.observer)"),
            ("reason", gap.reason.text), ("count", gap.lostCount.map { "\($0)" } ?? "unknown"),
            ("firstSeq", "\(gap.firstSequence)"), ("lastSeq", "\(gap.lastSequence)"))
    }

    /// Tells that a client is suspended, or is no longer.
    func tellSuspension(of client: UInt64, _ isSuspended: Bool, because reason: String) {
        if log.level > .debug || client == 0 { return }
        log.write(
            .debug, isSuspended ? "a client is suspended" : "a suspension is over",
            ("client", "c\(client)"), ("reason", reason))
    }
}
