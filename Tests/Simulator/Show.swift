import BelfryCenter
import BelfryHistory
import BelfryJSON

/// Text for the reader of a report.
enum Show {
    static func action(_ action: Command.Action) -> String {
        switch action {
        case .post(let post, let terms): "post \(Self.post(post)) \(Self.terms(terms))"
        case .postBatch(let posts, let terms):
            "postBatch [\(posts.map(post).joined(separator: ", "))] \(Self.terms(terms))"
        case .addObserver(let observer, let client, let since):
            "addObserver \(Self.observer(observer)) c\(client) since \(text(since))"
        case .connect(let client, let observers, let since):
            """
            connect c\(client.id) \(client.transport) on \(client.connection.number) \
            [\(observers.map(observer).joined(separator: ", "))] since \(text(since))
            """
        case .resume(let resumption):
            """
            resume c\(resumption.client) by c\(resumption.newcomer) \
            after \(text(resumption.after))
            """
        case .dequeue(let match):
            """
            dequeue \(text(match.name))/\(text(match.object)) mask \(match.mask.rawValue) \
            \(match.scope)
            """
        case .enterMode(let entry):
            """
            enterMode m\(entry.serial) \(entry.mode.shown) c\(text(entry.client)) \
            \(text(entry.lease))
            """
        case .setValue(let write, let document, let lifetime):
            "set \(place(write)) to \(document.bytes.shown) for \(text(lifetime.timeToLive))"
        case .removeValue(let write): "remove \(place(write))"
        case .removeObservers(let client, let filter):
            """
            removeObservers of c\(client) \(text(filter.name))/\(text(filter.object)) \
            \(HistoryFilter(filter.terms).map(Self.filter) ?? "")
            """
        case .configure: "configure"
        default: "\(action)"
        }
    }

    private static func place(_ write: ValueWrite) -> String {
        "\(write.object.shown)/\(write.path.text.shown)"
    }

    static func post(_ post: Post) -> String {
        var text =
            "#\(post.id.low) \(post.content.nameBytes.shown)/\(Self.text(post.content.objectBytes))"
        text += " (\(post.content.byteCount) bytes)"
        if let cause = post.causedBy { text += " by #\(cause.low)" }
        guard let options = post.options else { return text }
        if let style = options.style {
            text += " \(style) mask \(options.coalescing.rawValue)"
            text += " modes \(options.modes.map(\.shown))"
        }
        if options.keepsLatest { text += " latest" }
        if options.isImmediate { text += " immediate" }
        if let delay = options.maxDelay { text += " maxDelay \(delay)" }
        if let ttl = options.timeToLive { text += " ttl \(ttl)" }
        return text
    }

    static func terms(_ terms: PostTerms) -> String {
        var text = ""
        if terms.wait > 0 { text += " wait \(terms.wait)" }
        if terms.reportsObservers { text += " report" }
        if !terms.canStore { text += " cannotStore" }
        if terms.queueByteRoom != .max { text += " room \(terms.queueByteRoom)" }
        if let key = terms.details?.key { text += " key \(key.text.shown) form \(key.form)" }
        if let scope = terms.details?.scope, scope != .everything { text += " \(scope)" }
        return text
    }

    static func observer(_ observer: ObserverRegistration) -> String {
        let terms = observer.terms
        var text = "o\(observer.serial) \(Self.text(observer.name))/\(Self.text(observer.object))"
        text += " \(terms.suspensionBehavior) limit \(terms.holdLimit)"
        if terms.acknowledges { text += " ack" }
        if terms.endsWithConnection { text += " connection" }
        if terms.minInterval > 0 { text += " minInterval \(terms.minInterval)" }
        text += " lease \(Self.text(terms.lease))"
        if let filter = HistoryFilter(observer.role.filter) { text += " \(Self.filter(filter))" }
        if let path = observer.role.value?.pathText { text += " value \(path.shown)" }
        return text
    }

    static func filter(_ filter: HistoryFilter) -> String {
        var parts: [String] = []
        if !filter.names.isEmpty { parts.append("names \(filter.names.map(\.shown))") }
        if let prefix = filter.namePrefix { parts.append("namePrefix \(prefix.shown)") }
        if let prefix = filter.objectPrefix { parts.append("objectPrefix \(prefix.shown)") }
        if let condition = filter.condition { parts.append("where \(condition.text)") }
        for grant in filter.grants {
            let names = grant.names.isEmpty ? "all" : "\(grant.names.map(\.shown))"
            parts.append("grant for \(names) \(grant.alternatives.map(\.text))")
        }
        return parts.joined(separator: " ")
    }

    static func text(_ bytes: [UInt8]?) -> String { bytes?.shown ?? "*" }
    static func text(_ number: UInt64?) -> String { number.map { "\($0)" } ?? "-" }
    static func text(_ number: Int64?) -> String { number.map { "\($0)" } ?? "-" }

    static func effects(_ effects: Effects, _ center: borrowing NotificationCenter) -> String {
        var parts: [String] = []
        if effects.outcome != .done { parts.append("\(effects.outcome)") }
        for receipt in effects.receipts { parts.append(Self.receipt(receipt)) }
        for notice in effects.notices { parts.append("\(notice)") }
        parts += effects.deliveries.map(delivery(in: effects))
        for completion in effects.completions {
            parts.append("completed \(completion.command.counter)")
        }
        if !effects.changes.isEmpty { parts.append("\(effects.changes.count) changes") }
        return parts.joined(separator: "; ")
    }

    static func receipt(_ receipt: Receipt) -> String {
        """
        receipt #\(receipt.id.low)=\(receipt.sequence) \(receipt.state) m\(receipt.matched) \
        d\(receipt.delivered) h\(receipt.held) c\(receipt.coalesced) x\(receipt.dropped) \
        a\(receipt.acknowledged) r\(receipt.refused) p\(receipt.pending) q\(receipt.dequeued)
        """
    }

    static func delivery(in effects: Effects) -> (Delivery) -> String {
        { delivery in
            let sequence = effects.notifications[Int(delivery.notification)].sequence
            return """
                \(sequence)>o\(delivery.observer)@\(delivery.connection.number) \(delivery.form)\
                \(delivery.isRedelivered ? " again" : "")
                """
        }
    }

    static func predicted(_ delivery: PredictedDelivery) -> String {
        """
        \(delivery.note.sequence)>o\(delivery.observer)@\(delivery.connection.number) \
        \(delivery.form)\(delivery.isRedelivered ? " again" : "")
        """
    }
}

extension Model {
    /// The whole state, for the report of a violation.
    var shown: [String] {
        var lines = ["sequence \(sequence), now \(now)"]
        for client in clients {
            var line = "c\(client.id) \(client.transport) \(client.state)"
            line += " asked \(client.isAsked) paced \(client.isPaced) flushing \(client.isFlushing)"
            line += " held \(client.held.map(Self.shown)) owed \(client.owed.map(Self.shown))"
            lines.append(line)
        }
        for observer in observers {
            lines.append(
                """
                o\(observer.serial) of c\(observer.client) \(Show.text(observer.name))/\
                \(Show.text(observer.object)) \(observer.filter.map(Show.filter) ?? "") \
                \(observer.terms) losses \(observer.losses)
                """)
        }
        for entry in queue {
            lines.append(
                """
                queued #\(entry.id.low) \(entry.name.shown)/\(Show.text(entry.object)) \
                \(entry.style) \(entry.modes.map(\.shown)) merged \(entry.merged)
                """)
        }
        lines.append(
            """
            due: leases \(observers.map { leaseEnd(of: $0) }) held \
            \(clients.flatMap { $0.held.map(\.note.expiresAt) }) paces \(paceDeadlines) \
            waits \(waiting.map(\.deadline)) modes \(modes.map(\.endsAt)) queue \
            \(queue.map(\.expiresAt)) \(queue.map(\.promotesAt))
            """)
        lines.append("modes \(modes.map(\.entry.mode.shown)), keys \(keys.map(\.key.text.shown))")
        return lines
    }

    private static func shown(_ held: Held) -> String {
        """
        \(held.note.sequence)>o\(held.observer)\(held.isReplaceable ? " replaceable" : "")\
        \(held.isRedelivered ? " again" : "")
        """
    }
}
