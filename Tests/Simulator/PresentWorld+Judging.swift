import BelfryCenter
import BelfryJSON
import BelfryHistory

// The judgement of present values, and of posts beside them, from outside.
extension PresentWorld {
    /// Whether a frame is lost with the line of its client.
    func loses(_ delivery: Delivery, _ notification: Notification) -> Bool {
        guard let id = client(of: delivery.observer), clients[id]?.isDeaf == false else {
            return true
        }
        guard lookers[delivery.observer] != nil else { return false }
        // The line of a stream does not break between two present values.
        let isStream = clients[id]?.transport == .events
        let mayBreak = !isStream || !Told(notification).isInitial
        if mayBreak, dice.oneIn(isStream ? 8 : 25) { clients[id]?.isDeaf = true }
        return clients[id]?.isDeaf ?? true
    }

    private func client(of observer: UInt64) -> UInt64? {
        lookers[observer]?.client ?? clients.first { $0.value.listener == observer }?.key
    }

    /// A frame has come to its client.
    func take(_ delivery: Delivery, _ notification: Notification) throws(Violation) {
        guard let id = client(of: delivery.observer) else { return }
        clients[id]?.see(notification.sequence)
        guard let looker = lookers[delivery.observer] else {
            guard notification.content.nameBytes == PresentTruth.name else {
                throw Violation("rule C1: a listener gets \(notification.content.nameBytes.shown)")
            }
            clients[id]?.owed.remove(notification.sequence)
            return
        }
        if Told(notification).isInitial {
            try judgeInitial(delivery, notification.sequence, looker)
        }
        try take(notification, delivery.observer)
    }

    private func judgeInitial(
        _ delivery: Delivery, _ sequence: UInt64, _ looker: Looker
    ) throws(Violation) {
        if clients[looker.client]?.isAsked == true, sequence == looker.since,
            sequence == center.sequence
        {
            throw Violation(
                "rule D4: o\(delivery.observer) is suspended, and is told the present value")
        }
        // A number that its client has of something else says nothing of a value never told.
        guard looker.isKnown, let named = looker.named, named > truth.start,
            !delivery.isRedelivered, (truth.changes[looker.place] ?? 0) < named
        else { return }
        throw Violation(
            "rule V10: o\(delivery.observer) named \(named), and is told what has not changed since"
        )
    }

    func take(_ notification: Notification, _ serial: UInt64) throws(Violation) {
        guard notification.content.nameBytes == PresentTruth.valueName else {
            throw Violation("rule V13: o\(serial) looks at a value, and gets a notification")
        }
        lookers[serial]?.value = Told(notification).value
        lookers[serial]?.isKnown = true
    }

    /// The content of a frame.
    private struct Told {
        let isInitial: Bool
        let value: Int?

        init(_ notification: Notification) {
            let text = String(decoding: notification.content.userInfoBytes ?? [], as: UTF8.self)
            isInitial = text.contains(#""initial":true"#)
            value = text.firstRange(of: #""new":"#).flatMap {
                Int(text[$0.upperBound...].prefix { $0.isNumber })
            }
        }
    }

    func judge() throws(Violation) {
        for (id, client) in clients.sorted(by: { $0.key < $1.key }) where client.isLive {
            if client.listener != nil, !client.owed.isEmpty {
                throw Violation("law 3: c\(id) was never told \(client.owed.sorted())")
            }
        }
        for (serial, looker) in lookers.sorted(by: { $0.key < $1.key }) {
            guard let client = clients[looker.client], client.isLive,
                client.transport != .mailbox
            else { continue }
            guard looker.isKnown, looker.value == truth.values[looker.place] else {
                throw Violation("rules V6 and V10: o\(serial) has not the value of \(looker.place)")
            }
        }
    }

    static func path(_ key: [UInt8]) throws(Violation) -> DocumentPath {
        do throws(DocumentPathError) {
            return try DocumentPath.parse(key.span)
        } catch {
            throw Violation("no key path: \(error)")
        }
    }
}
