import BelfryCenter
import BelfryHistory

// Mailboxes are read, polled and streamed.

extension World {
    /// Does one of the steps of mailboxes.
    func mailbox(_ kind: StepKind) throws(Violation) {
        let places = ends.indices.filter { ends[$0].transport == .mailbox }
        guard let place = dice.pick(places), let serial = ends[place].mailbox else { return }
        if let number = ends[place].connection, pipes[number] == nil {
            ends[place].connection = nil
        }
        switch kind {
        case .detach:
            guard let number = ends[place].connection else { return }
            try read(dice.below(profile.readLimit + 1), at: place)
            pipes[number] = nil
            ends[place].connection = nil
            try submit(.detachReader(observer: serial, ConnectionName(node: 0, number: number)))
        case .poll, .stream:
            let isStream = kind == .stream
            if isStream, dice.oneIn(2) {
                ends[place].readThrough = max(ends[place].readThrough, ends[place].lastSequence)
            }
            if isStream, case .refused = try look(at: serial, of: place) { return }
            lastConnection += 1
            let connection = lastConnection
            pipes[connection] = Pipe(
                transport: .events, client: ends[place].client, mailbox: serial)
            let name = ConnectionName(node: 0, number: connection)
            if isStream {
                ends[place].lastSequence = 0
                ends[place].lastOfObserver = [:]
                try submit(.attachStream(observer: serial, name))
            } else {
                guard case .waiting = try look(at: serial, of: place, wait: name) else {
                    pipes[connection] = nil
                    return
                }
            }
            ends[place].connection = connection
        default:
            if case .refused = try look(at: serial, of: place) { return }
            try takePage(of: serial, at: place, limit: dice.number(in: 1...6))
        }
    }

    private func look(
        at serial: UInt64, of place: Int, wait: ConnectionName? = nil
    ) throws(Violation) -> Outcome {
        let through = dice.oneIn(4) ? nil : ends[place].readThrough
        let outcome = try submit(.readMailbox(observer: serial, through: through, wait: wait))
        if case .refused(.observerRemoved) = outcome { ends.remove(at: place) }
        if case .refused(.unknownObserver) = outcome { ends.remove(at: place) }
        return outcome
    }

    private func takePage(of serial: UInt64, at place: Int, limit: Int) throws(Violation) {
        let after = ends[place].readThrough
        let page = center.mailbox(of: serial, after: after, limit: limit)
        try compare(page, model.mailbox(of: serial, after: after, limit: limit))
        if let page { note(page, of: serial) }
        if let page, dice.oneIn(2) { ends[place].readThrough = page.next }
    }

    /// Answers a poll whose delivery has come; its connection waits no more.
    func answerPoll(on connection: UInt64, of serial: UInt64) throws(Violation) {
        guard pipes[connection] != nil else { return }
        pipes[connection] = nil
        if let place = ends.firstIndex(where: { $0.connection == connection }) {
            ends[place].connection = nil
            try takePage(of: serial, at: place, limit: 100)
        }
        try submit(.detachReader(observer: serial, ConnectionName(node: 0, number: connection)))
    }
}
