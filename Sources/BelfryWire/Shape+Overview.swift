public import BelfryCenter
internal import BelfryJSON

// The state of one center, as one look.
extension Shape {
    /// Appends what a center has now, beside its own limits.
    ///
    /// - Parameter time: in milliseconds since 1970.
    public static func append(
        overviewOf center: borrowing NotificationCenter, at time: Int64, to output: inout [UInt8]
    ) {
        let (limits, tally) = (center.limits, center.tally)
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.member("name", string: center.name, into: &output)
        writer.member("epoch", string: center.epoch, into: &output)
        writer.member("seq", integer: center.sequence, into: &output)
        writer.time("asOf", time, into: &output)
        writer.member("mode", string: center.modes.current, into: &output)
        appendClients(center.clientCounts, to: &output, with: &writer)
        let parts: [(name: String, members: [(String, Int)])] = [
            ("observers", [("count", center.observerCount)]),
            ("channels", [("count", center.channelCount)]),
            ("responders", [("count", tally[.responders])]),
            ("asks", [("open", tally[.asks]), ("limit", limits.askLimit)]),
            (
                "values",
                [
                    ("count", tally[.values]), ("limit", limits.valueLimit),
                    ("bytes", tally[.valueBytes]),
                ]
            ),
            (
                "timers",
                [
                    ("count", tally[.timers]), ("limit", limits.timerLimit),
                    ("bytes", tally[.timerBytes]),
                ]
            ),
            (
                "queue",
                [
                    ("entries", center.queueCount), ("limit", limits.queueEntryLimit),
                    ("bytes", center.queueByteCount),
                ]
            ),
            ("held", [("count", center.heldCount), ("bytes", center.heldByteCount)]),
            ("replay", [("count", center.replayCount), ("limit", limits.replayCountLimit)]),
        ]
        for part in parts {
            writer.key(part.name, into: &output)
            writer.beginObject(into: &output)
            for (name, count) in part.members { writer.member(name, integer: count, into: &output) }
            writer.endObject(into: &output)
        }
        writer.endObject(into: &output)
    }

    /// Clients by their transport, and by their state.
    private static func appendClients(
        _ counts: ClientCounts, to output: inout [UInt8], with writer: inout JSONWriter
    ) {
        writer.key("clients", into: &output)
        writer.beginObject(into: &output)
        for transport in Transport.allCases {
            writer.member(
                transport.text, integer: counts[ClientCounts.place(of: transport)], into: &output)
        }
        for state in ClientState.allCases {
            writer.member(
                state.text, integer: counts[ClientCounts.place(of: state)], into: &output)
        }
        writer.endObject(into: &output)
    }
}
