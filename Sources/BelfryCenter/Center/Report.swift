/// A notification that a center posts of itself, in a channel that is closed to other posters.
///
/// Only observers that name such a channel get it; without any, nothing is posted at all.
enum Report: Sendable, Equatable {
    case connected(client: UInt64, Transport)
    case suspended(client: UInt64, ClientState)
    case resumed(client: UInt64)
    case left(client: UInt64, String)
    case expired(observer: UInt64, client: UInt64)
    case queueOverflowed(count: Int)
    case willTerminate
    case responderChanged(address: [UInt8], observer: UInt64, isHeld: Bool)
    case didStart(epoch: [UInt8], isUnclean: Bool)
    case channelChanged(name: [UInt8], isObserved: Bool)

    static func == (left: Report, right: Report) -> Bool {
        left.name == right.name && left.object == right.object
    }

    /// The channel.
    var name: [UInt8] {
        switch self {
        case .connected: Self.names[0]
        case .suspended: Self.names[1]
        case .resumed: Self.names[2]
        case .left: Self.names[3]
        case .expired: Self.names[4]
        case .queueOverflowed: Self.names[5]
        case .willTerminate: Self.names[6]
        case .responderChanged: Self.names[7]
        case .didStart: Self.names[8]
        case .channelChanged(_, let isObserved): Self.names[isObserved ? 9 : 10]
        }
    }

    /// The channels of all reports.
    static let names: [[UInt8]] = [
        "belfry.client.connected", "belfry.client.suspended", "belfry.client.resumed",
        "belfry.client.left", "belfry.observer.expired", "belfry.queue.overflowed",
        "belfry.center.willTerminate", "belfry.responder.changed", "belfry.center.didStart",
        "belfry.channel.observed", "belfry.channel.unobserved",
    ].map { Array($0.utf8) }

    /// Whether this is a channel of reports on whether names are observed.
    static func isOfChannels(_ name: [UInt8]) -> Bool { name == names[9] || name == names[10] }

    /// The client, the observer, the address or the name that it is about.
    var object: [UInt8]? {
        switch self {
        case .connected(let id, _), .suspended(let id, _), .resumed(let id), .left(let id, _):
            Array("c\(id)".utf8)
        case .expired(let serial, _): Array("o\(serial)".utf8)
        case .responderChanged(let address, _, _): address
        case .channelChanged(let name, _): name
        case .queueOverflowed, .willTerminate, .didStart: nil
        }
    }

    /// The userInfo: an object of numbers and of words without characters that need an escape.
    var userInfo: [UInt8]? {
        let text: String
        switch self {
        case .connected(let id, let transport):
            text = #"{"client":"c\#(id)","transport":"\#(transport.text)"}"#
        case .suspended(let id, let state):
            text = #"{"client":"c\#(id)","reason":"\#(state.text)"}"#
        case .resumed(let id): text = #"{"client":"c\#(id)"}"#
        case .left(let id, let reason): text = #"{"client":"c\#(id)","reason":"\#(reason)"}"#
        case .expired(let serial, let client):
            text = #"{"observer":"o\#(serial)","client":"c\#(client)"}"#
        case .queueOverflowed(let count): text = #"{"entries":\#(count)}"#
        case .responderChanged(_, let serial, let isHeld):
            text = #"{"observer":"o\#(serial)","state":"\#(isHeld ? "held" : "left")"}"#
        case .didStart(let epoch, let isUnclean):
            text =
                #"{"epoch":"\#(String(decoding: epoch, as: UTF8.self))","unclean":\#(isUnclean)}"#
        case .willTerminate, .channelChanged: return nil
        }
        return Array(text.utf8)
    }
}

extension Notification.Content {
    /// Whether its name is one of the broker's own.
    var isReserved: Bool {
        let prefix: StaticString = "belfry."
        let name = self.name
        guard name.count >= prefix.utf8CodeUnitCount else { return false }
        let expected: [UInt8] = Self.reservedPrefix
        // Bound: bytes
        for index in expected.indices where name[index] != expected[index] { return false }
        return true
    }

    private static let reservedPrefix = Array("belfry.".utf8)
}

extension NotificationCenter {
    /// Posts the reports of the command; these posts make no further reports.
    ///
    /// They have a share of a command; the rest is posted with the end of the turn. A report whose
    /// observers exceed the share waits for that, too: a command does not pay for it besides its
    /// own work.
    ///
    /// - Parameter isEnd: whether the command is the end of a turn or of the center.
    mutating func postReports(
        of command: CommandID, isEnd: Bool, at time: CommandTime, into effects: inout Effects
    ) {
        var pending: [Report] = []
        swap(&pending, &reports)
        var matchedCount: UInt32 = 0
        var next = 0
        while next < pending.count, matchedCount < Work.reportShare {  // Share: reports
            let report = pending[next]
            let name = report.name
            guard
                registry.index.observes(reserved: name.span)
                    || archiveBox.value.archive(of: name.span, isReserved: true) != nil
            else {
                next += 1
                continue
            }
            let content = Notification.Content(
                name: name, object: report.object, userInfo: report.userInfo)
            if !isEnd, registry.index.observerBound(of: content) > Work.reportShare { break }
            let receiptCount = effects.receipts.count
            dispatch(
                Dispatch(
                    id: Self.reportID(command, next, time), content: content, causedBy: nil,
                    isReport: true),
                at: time, into: &effects)
            next += 1
            matchedCount += effects.receipts.last?.matched ?? 0
            effects.receipts.removeLast(effects.receipts.count - receiptCount)
        }
        reports = Array(pending[next...])
    }

    /// An identifier that no other command makes: it includes the name of its command.
    private static func reportID(
        _ command: CommandID, _ place: Int, _ time: CommandTime
    ) -> NotificationID {
        let mixed =
            command.incarnation &* 0x9E37_79B9_7F4A_7C15 ^ command.counter
            &* 0xBF58_476D_1CE4_E5B9 ^ UInt64(command.node) << 48
        return NotificationID(
            milliseconds: time.wallMilliseconds, place: mixed &+ UInt64(place), random: mixed)
    }
}

extension Report: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .connected(let client, let transport): try coder.write(case: 0, client, transport)
        case .suspended(let client, let state): try coder.write(case: 1, client, state)
        case .resumed(let client): try coder.write(case: 2, client)
        case .left(let client, let reason): try coder.write(case: 3, client, reason)
        case .expired(let observer, let client): try coder.write(case: 4, observer, client)
        case .queueOverflowed(let count): try coder.write(case: 5, count)
        case .willTerminate: try coder.write(case: 6)
        case .responderChanged(let address, let observer, let isHeld):
            try coder.write(case: 7, address, observer, isHeld)
        case .didStart(let epoch, let isUnclean): try coder.write(case: 8, epoch, isUnclean)
        case .channelChanged(let name, let isObserved): try coder.write(case: 9, name, isObserved)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> Report {
        switch number {
        case 0: .connected(client: try coder.next(), try coder.next())
        case 1: .suspended(client: try coder.next(), try coder.next())
        case 2: .resumed(client: try coder.next())
        case 3: .left(client: try coder.next(), try coder.next())
        case 4: .expired(observer: try coder.next(), client: try coder.next())
        case 5: .queueOverflowed(count: try coder.next())
        case 6: .willTerminate
        case 7:
            .responderChanged(
                address: try coder.next(), observer: try coder.next(), isHeld: try coder.next())
        case 8: .didStart(epoch: try coder.next(), isUnclean: try coder.next())
        case 9: .channelChanged(name: try coder.next(), isObserved: try coder.next())
        default: throw .malformed
        }
    }
}

extension ClientState: Coded {}

/// Its texts belong to the state that it reports, and the next commands post it.
extension Report: Blockless {}
