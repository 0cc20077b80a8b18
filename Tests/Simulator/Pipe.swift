import BelfryCenter
import BelfryHistory
import BelfryWire

/// One connection: what was written to it and not yet read at its other end.
struct Pipe {
    let transport: Transport
    /// The client that it belongs to.
    var client: UInt64
    /// The observer whose mailbox is read here, if it is that.
    var mailbox: UInt64?
    var frames: [SentFrame] = []
    /// Whether the center was told that too much waits here.
    var isSlow = false
    /// The center has more for it.
    var flushGoesOn = false

    init(transport: Transport, client: UInt64, mailbox: UInt64? = nil) {
        self.transport = transport
        self.client = client
        self.mailbox = mailbox
    }
}

/// A frame as bytes, and as it must be read.
struct SentFrame {
    let bytes: [UInt8]
    let expected: Frame
    /// The content of its bytes; nil when they cannot be read.
    let frame: Frame?
    /// The observer that it is for; nil when it is no delivery.
    var observer: UInt64?
}

/// A program at the other end of a connection; it survives the connection.
struct RemoteEnd {
    var transport: Transport
    /// The client that it is, as far as it knows.
    var client: UInt64
    /// Its connection; nil while it has none.
    var connection: UInt64?
    /// Requests that it has not answered, or has answered and may answer again.
    var owed: [(observer: UInt64, sequence: UInt64)] = []
    var answered: [(observer: UInt64, sequence: UInt64)] = []
    /// The highest sequence number that it was sent for the first time, in all and by observer.
    var lastSequence: UInt64 = 0
    var lastOfObserver: [UInt64: UInt64] = [:]
    /// Mailboxes: up to where it acknowledges.
    var readThrough: UInt64 = 0
    /// Mailboxes: its one observer.
    var mailbox: UInt64?
}

extension World {
    /// Writes the notices and deliveries of a command to their connections.
    func fanOut() throws(Violation) {
        for notice in effects.notices { try tell(notice) }
        for delivery in effects.deliveries { try write(delivery) }
        for notification in effects.notifications {
            highestSequence = max(highestSequence, notification.sequence)
        }
    }

    private func write(_ delivery: Delivery) throws(Violation) {
        let connection = delivery.connection.number
        guard pipes[connection] != nil else {
            throw Violation("delivery to a connection that is not open: \(connection)")
        }
        let notification = effects.notifications[Int(delivery.notification)]
        let selector = center.selector(delivery.selector)
        var bytes: [UInt8] = []
        var expected = Frame()
        expected.id = text(of: notification.id)
        expected.sequence = notification.sequence
        expected.name = notification.content.nameBytes
        expected.object = notification.content.objectBytes
        expected.userInfo = notification.content.userInfoBytes
        expected.causedBy = notification.causedBy.map(text(of:))
        expected.isRedelivered = delivery.isRedelivered
        switch delivery.transport {
        case .webSocket:
            expected.method = selector
            if delivery.form == .acknowledged {
                expected.observer = [UInt8]("o\(delivery.observer)")
                RPC.append(
                    request: notification, observer: delivery.observer, selector: selector,
                    isRedelivered: delivery.isRedelivered, to: &bytes)
            } else {
                deliveryWriter.append(
                    notification, calling: selector, isRedelivered: delivery.isRedelivered,
                    to: &bytes)
            }
        case .events:
            let named = delivery.form == .named ? delivery.observer : nil
            expected.observer = named.map { [UInt8]("o\($0)") }
            EventStream.append(
                notification: notification, epoch: center.epoch,
                isRedelivered: delivery.isRedelivered, observer: named, to: &bytes)
        case .mailbox:
            throw Violation("a delivery was written to a mailbox without a reader")
        }
        let frame = Frame.read(bytes, isEvent: delivery.transport != .webSocket)
        pipes[connection]?.frames.append(
            SentFrame(bytes: bytes, expected: expected, frame: frame, observer: delivery.observer))
        note(frame, delivery)
    }

    func text(of id: NotificationID) -> [UInt8] {
        var text: [UInt8] = []
        id.append(to: &text)
        return text
    }

    private func tell(_ notice: Notice) throws(Violation) {
        switch notice {
        case .removed(let connection, let transport, let observer, let tombstone):
            var bytes: [UInt8] = []
            var expected = Frame()
            expected.method = [UInt8]("belfry.removed")
            expected.observer = [UInt8]("o\(observer)")
            if transport == .webSocket {
                RPC.append(removed: observer, tombstone, to: &bytes)
            } else {
                EventStream.append(removed: observer, tombstone, to: &bytes)
            }
            send(bytes, expected, to: connection.number)
        case .settled: break
        case .gap(let connection, let transport, let gap):
            var bytes: [UInt8] = []
            if transport == .webSocket {
                RPC.append(gap: gap, to: &bytes)
            } else {
                EventStream.append(gap: gap, to: &bytes)
            }
            var expected = Frame()
            expected.method = [UInt8]("belfry.gap")
            expected.observer = [UInt8]("o\(gap.observer)")
            expected.lost = gap.lostCount.map { [UInt8](String($0)) } ?? [UInt8]("null")
            expected.firstSequence = [UInt8](String(gap.firstSequence))
            expected.lastSequence = [UInt8](String(gap.lastSequence))
            expected.reason = [UInt8]("\(gap.reason)")
            send(bytes, expected, to: connection.number)
        case .clientRemoved(let connection, _), .takenOver(let connection, _),
            .readerReplaced(let connection, _):
            close(connection.number)
        case .mailboxFilled(let connection, let observer):
            pendingPolls.append((connection.number, observer))
        case .flushGoesOn(_, let connection), .flushFollows(_, let connection):
            pipes[connection.number]?.flushGoesOn = true
        }
    }

    private func send(_ bytes: [UInt8], _ expected: Frame, to connection: UInt64) {
        guard let pipe = pipes[connection] else { return }
        let frame = Frame.read(bytes, isEvent: pipe.transport != .webSocket)
        pipes[connection]?.frames.append(
            SentFrame(bytes: bytes, expected: expected, frame: frame))
        noteGap(frame)
    }

    /// The broker closes a connection; its end still reads what was sent before.
    private func close(_ connection: UInt64) {
        pipes[connection] = nil
        for place in ends.indices where ends[place].connection == connection {
            ends[place].connection = nil
            ends[place].owed = []
        }
    }

    // MARK: Reading

    /// A client reads so many frames, and checks what every client may rely on.
    func read(_ count: Int, at place: Int) throws(Violation) {
        guard let number = ends[place].connection, let pipe = pipes[number] else { return }
        let readCount = min(count, pipe.frames.count)
        for sent in pipe.frames.prefix(readCount) {
            guard let frame = sent.frame else {
                throw Violation("no frame can be read out of \(sent.bytes.shown)")
            }
            try check(frame, sent, at: place)
        }
        pipes[number]?.frames.removeFirst(readCount)
    }

    private func check(_ frame: Frame, _ sent: SentFrame, at place: Int) throws(Violation) {
        var frame = frame
        if sent.expected.method == [UInt8]("belfry.removed") { frame.reason = nil }
        if let request = frame.requestID { try takeRequest(request, frame, at: place) }
        frame.requestID = nil
        guard frame == sent.expected || isJudgedByHistoryAlone else {
            throw Violation("the wire gave \(frame), expected \(sent.expected)")
        }
        guard let observer = sent.observer, !frame.isRedelivered else { return }
        if isJudgedByHistoryAlone {
            ends[place].lastSequence = frame.sequence
            return
        }
        // Law 2, as a client sees it.
        if frame.sequence < ends[place].lastSequence {
            throw Violation(
                """
                law 2: client c\(ends[place].client) got \(frame.sequence) after \
                \(ends[place].lastSequence)
                """)
        }
        if frame.sequence <= ends[place].lastOfObserver[observer] ?? 0 {
            throw Violation("law 2: observer o\(observer) got \(frame.sequence) again or too late")
        }
        ends[place].lastSequence = frame.sequence
        ends[place].lastOfObserver[observer] = frame.sequence
    }

    /// An acknowledged delivery says by its id which observer answers which notification.
    private func takeRequest(
        _ request: [UInt8], _ frame: Frame, at place: Int
    ) throws(Violation) {
        let parts = request.split(separator: UInt8(ascii: ":"))
        guard parts.count == 2, parts[0].first == UInt8(ascii: "o"),
            MemberScanner.number(Array(parts[1])) == frame.sequence
        else { throw Violation("no id of an acknowledged delivery: \(request.shown)") }
        let observer = MemberScanner.number(Array(parts[0].dropFirst()))
        ends[place].owed.append((observer, frame.sequence))
    }

    // MARK: Slow readers

    /// Submits what the loop submits when it looks at what waits for its sockets.
    func watchPipes() throws(Violation) {
        for number in pipes.keys.sorted() {
            guard let pipe = pipes[number] else { continue }
            if !pipe.isSlow, pipe.frames.count > profile.highWater {
                pipes[number]?.isSlow = true
                try submit(
                    Self.onConnection(number, of: pipe.client, .becomeSlow(client: pipe.client)))
            } else if pipe.frames.count <= profile.lowWater, pipe.isSlow || pipe.flushGoesOn {
                pipes[number]?.isSlow = false
                pipes[number]?.flushGoesOn = false
                try submit(
                    Self.onConnection(number, of: pipe.client, .drain(client: pipe.client)))
            }
        }
    }

    /// Binds a command to a connection: the command counts only while that is the client's.
    static func onConnection(
        _ number: UInt64, of client: UInt64, _ action: Command.Action
    ) -> Command.Action {
        .onConnection(
            ClientConnection(
                client: client, connection: ConnectionName(node: 0, number: number)), action)
    }
}
