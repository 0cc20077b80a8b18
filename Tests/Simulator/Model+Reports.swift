import BelfryCenter

// The reports of a center, in its own channels: only to observers of such a channel, and never
// because of another report.

extension Model {
    struct Report {
        let name: String
        var object: String?
        var userInfo: String?
    }

    /// The channels that observers may name.
    static let reportNames: [[UInt8]] = [
        "belfry.client.connected", "belfry.client.suspended", "belfry.client.resumed",
        "belfry.client.left", "belfry.observer.expired", "belfry.queue.overflowed",
        "belfry.center.willTerminate",
    ].map { [UInt8]($0) }

    mutating func report(_ name: String, client id: UInt64, _ rest: String = "") {
        reports.append(
            Report(
                name: "belfry.client.\(name)", object: "c\(id)",
                userInfo: #"{"client":"c\#(id)"\#(rest)}"#))
    }

    mutating func reportLeft(_ id: UInt64, _ reason: String) {
        report("left", client: id, #","reason":"\#(reason)""#)
    }

    /// The reasons for which a client is suspended have changed.
    mutating func reportChange(of place: Int, from before: [Bool], to after: [Bool]) {
        let id = clients[place].id
        if !after.contains(true) {
            report("resumed", client: id)
        } else if !before.contains(true) || zip(before, after).contains(where: { !$0 && $1 }) {
            report("suspended", client: id, #","reason":"\#(clients[place].state)""#)
        }
    }

    mutating func reportOverflow() {
        guard !hasReportedOverflow else { return }
        hasReportedOverflow = true
        reports.append(
            Report(
                name: "belfry.queue.overflowed", userInfo: #"{"entries":\#(queue.count)}"#))
    }

    /// Posts what the command has brought about.
    mutating func postReports(of command: CommandID) {
        terms = PostTerms()
        isPosting = false
        let pending = reports
        for (place, report) in pending.enumerated() {
            let name = [UInt8](report.name)
            guard observers.contains(where: { $0.names(channel: name) }) else { continue }
            let receiptCount = out.receipts.count
            dispatch(
                Posting(
                    id: Self.reportID(command, place, wall), name: name,
                    object: report.object.map { [UInt8]($0) },
                    userInfo: report.userInfo.map { [UInt8]($0) }, causedBy: nil))
            out.receipts.removeLast(out.receipts.count - receiptCount)
        }
        reports = []
    }

    /// The center makes these identifiers itself: they must be the same on every machine.
    private static func reportID(
        _ command: CommandID, _ place: Int, _ wall: Int64
    ) -> NotificationID {
        let life = command.incarnation &* 0x9E37_79B9_7F4A_7C15
        let number = command.counter &* 0xBF58_476D_1CE4_E5B9
        let mixed = life ^ number ^ UInt64(command.node) << 48
        return NotificationID(milliseconds: wall, place: mixed &+ UInt64(place), random: mixed)
    }
}
