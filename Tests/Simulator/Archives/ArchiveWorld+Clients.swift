import BelfryCenter
import BelfryJSON
import TestSupport

// Clients that read fast or slowly, lose their lines, and come back.
extension ArchiveWorld {
    func pick(_ isWanted: (ArchiveEnd) -> Bool) -> UInt64? {
        dice.pick(ends.values.filter(isWanted).map(\.client).sorted())
    }

    /// A connection opens, and with it a client.
    func connect(
        _ transport: Transport, _ registrations: [ObserverRegistration] = [],
        since: UInt64? = nil
    ) throws(Violation) -> UInt64 {
        try meetDeadlines()
        let id = number()
        ends[id] = ArchiveEnd(
            client: id, transport: transport, connection: transport == .mailbox ? nil : id)
        let registration = ClientRegistration(
            id: id, transport: transport, connection: ConnectionName(node: 0, number: id),
            sessionHash: SecretHash(high: id, low: 0), principal: [UInt8]("p"),
            owner: Owner(ofPrincipal: [UInt8]("p")))
        for registration in registrations { note(registration, of: id, since: since) }
        try submit(
            .connect(registration, observers: registrations, since: since),
            "connect c\(id) \(transport) \(Self.text(registrations, since))")
        return id
    }

    static func text(_ registrations: [ObserverRegistration], _ since: UInt64?) -> String {
        registrations.map { registration in
            let terms = registration.role.filter
            let names = registration.name.map { [$0] } ?? terms?.names ?? []
            let begins = registration.beginning.map { "\($0)" } ?? since.map { "since \($0)" }
            return """
                o\(registration.serial) \(names.map(\.shown)) \
                \(terms?.namePrefix.map { $0.shown + "*" } ?? "") \
                /\(registration.object?.shown ?? "") \
                \(terms?.condition.map { $0.text.shown } ?? "") \
                \(registration.terms.suspensionBehavior) \(begins ?? "")
                """
        }.joined(separator: ", ")
    }

    /// Writes down where an observer begins, before the command that registers it.
    func note(_ registration: ObserverRegistration, of client: UInt64, since: UInt64?) {
        let terms = registration.role.filter
        var filter = ArchiveWatcher.Filter()
        filter.names = registration.name.map { [$0] } ?? terms?.names ?? []
        filter.prefix = terms?.namePrefix
        filter.object = registration.object
        if terms?.condition != nil { filter.least = 2 }
        var watcher = ArchiveWatcher(
            serial: registration.serial, client: client, filter: filter,
            drops: registration.terms.suspensionBehavior == .drop,
            acknowledges: registration.terms.acknowledges,
            isMailbox: ends[client]?.transport == .mailbox, start: center.sequence,
            join: center.sequence)
        truth.passTime(to: now, wall: wall)
        let past = truth.past(at: now, wall: wall).filter { filter.matches($0) }
        switch registration.beginning {
        case nil: if let since { watcher.start = min(since, watcher.join) }
        case .from(let time): (watcher.start, watcher.from) = (0, time)
        case .oldest: watcher.chosen = Set(past.map(\.sequence))
        case .last(let count): watcher.chosen = Set(past.suffix(count).map(\.sequence))
        case .lastEach(let count):
            let chosen = past.filter { post in
                past.count {
                    $0.name == post.name && $0.object == post.object
                        && $0.sequence > post.sequence
                } < count
            }
            watcher.chosen = Set(chosen.map(\.sequence))
        }
        watcher.choice = Set(past.map(\.sequence))
        watchers[registration.serial] = watcher
    }

    /// A client reads some of its frames.
    func read(_ count: Int, of client: UInt64) throws(Violation) {
        try take(count, of: client)
        guard let end = ends[client], end.connection != nil, end.unread.count <= highWater / 2,
            end.isSlow || end.isFlushing
        else { return }
        try drain(client)
    }

    func drain(_ client: UInt64) throws(Violation) {
        ends[client]?.isSlow = false
        ends[client]?.isFlushing = false
        try submit(.drain(client: client), "drain c\(client)")
        try noteSlow(client)
    }

    func noteSlow(_ client: UInt64) throws(Violation) {
        guard let end = ends[client], end.connection != nil, !end.isSlow,
            end.unread.count > highWater
        else { return }
        ends[client]?.isSlow = true
        count("slow clients")
        try submit(.becomeSlow(client: client), "becomeSlow c\(client)")
    }

    /// Frames come to a client.
    func take(_ count: Int, of client: UInt64) throws(Violation) {
        guard let end = ends[client] else { return }
        let taken = min(count, end.unread.count)
        for frame in end.unread.prefix(taken) {
            watchers[frame.observer]?.came.insert(frame.sequence)
            ends[client]?.lastCame = frame.sequence
        }
        ends[client]?.unread.removeFirst(taken)
        if taken > 0 {
            ends[client]?.hasLost = false
            // A frame of a removed observer may be on its way, and the next one of its number.
            if taken == end.unread.count { ends[client]?.hasRemoved = false }
        }
        for frame in end.unread.prefix(taken)
        where watchers[frame.observer]?.acknowledges == true {
            let name = DeliveryName(observer: frame.observer, sequence: frame.sequence)
            try submit(
                .acknowledge(client: client, name, .result([])),
                "acknowledge o\(frame.observer) #\(frame.sequence)")
        }
    }

    /// A client reads all that there is, and all that follows.
    func readAll(_ client: UInt64) throws(Violation) {
        for _ in 0..<10_000 {
            try take(.max, of: client)
            guard let end = ends[client], end.connection != nil else { return }
            // Acknowledgements let more frames come.
            if end.isSlow || end.isFlushing {
                try drain(client)
            } else if end.unread.isEmpty {
                return
            }
        }
        throw Violation("c\(client) flushes for ever")
    }

    /// The line of a client ends; what it has not read is lost.
    func loseLine(of client: UInt64) {
        guard let end = ends[client], end.transport != .mailbox else { return }
        for frame in end.unread {
            ends[client]?.hasLost = true
            guard let watcher = watchers[frame.observer], watcher.came.isEmpty,
                frame.sequence <= watcher.join
            else { continue }
            // Nothing of its replay has come: the client goes on where that began.
            let start = watcher.chosen == nil ? watcher.start : 0
            ends[client]?.lastCame = min(end.lastCame ?? start, start)
        }
        ends[client]?.connection = nil
        ends[client]?.unread = []
        ends[client]?.isSlow = false
        ends[client]?.isFlushing = false
    }

    func cut(_ client: UInt64) throws(Violation) {
        guard let end = ends[client], let connection = end.connection else { return }
        try take(dice.below(end.unread.count + 1), of: client)
        loseLine(of: client)
        try submit(
            .disconnect(client: client, connection: ConnectionName(node: 0, number: connection)),
            "disconnect c\(client)")
        if end.transport == .events { ends[client] = nil }
    }

    /// A client comes back with the number of the last frame that came, or without it.
    func comeBack(_ client: UInt64) throws(Violation) {
        guard let end = ends[client], end.transport == .webSocket else { return }
        if end.connection != nil {
            try take(dice.below(end.unread.count + 1), of: client)
            loseLine(of: client)
        }
        guard let end = ends[client] else { return }
        let newcomer = try connect(.webSocket)
        // Its lease may be over by now.
        guard ends[client] != nil, ends[newcomer] != nil else { return }
        ends[newcomer] = nil
        let isNamed = end.hasLost || dice.oneIn(2)
        let after = isNamed ? end.lastCame ?? 0 : nil
        for serial in watchers.keys.sorted() where watchers[serial]?.client == client {
            watchers[serial]?.hasResumed = true
            watchers[serial]?.written = []
            watchers[serial]?.last = 0
            if isNamed { watchers[serial]?.mayRepeat = true }
        }
        ends[client]?.connection = newcomer
        ends[client]?.lastPlain = 0
        count("resumes")
        try submit(
            .resume(Resumption(newcomer: newcomer, client: client, after: after)),
            "resume c\(client) on \(newcomer) after \(after.map { "\($0)" } ?? "-")")
        if ends[client]?.hasRemoved == true, let after {
            for serial in watchers.keys where watchers[serial]?.client == client {
                watchers[serial]?.doubts.insert(after)
            }
        }
        // A crash may have taken back what it had asked for.
        try submit(
            .setSuspended(client: client, end.isAsked), "setSuspended c\(client) \(end.isAsked)")
        try noteSlow(client)
    }

    func noteRestart(of serial: UInt64, isComplete: Bool) {
        watchers[serial]?.mayRepeat = true
        // Nobody was promised what it had not got of it yet (rule A11).
        watchers[serial]?.hasRestarted = true
        if !isComplete, let client = watchers[serial]?.client { ends[client]?.hasLost = true }
    }
}
