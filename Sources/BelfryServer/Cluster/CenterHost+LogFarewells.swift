import BelfryCenter
import BelfryLoop
import BelfrySystem

// Rights of farewells where brokers share a log (rule L10): the log passes time by itself, and knows no keys. Each broker
// looks ahead, and takes out what may not go by its own file of keys.

extension CenterHost {
    /// How far a broker looks ahead, in nanoseconds; an entry of the log takes less, but for an election of the engine.
    private static let horizon: Int64 = 2_000_000_000
    /// At how many timers of a center it looks at a time.
    private static let lookLimit = 10_000

    /// Takes out the farewells that go soon, and that their posters may not post any more; once a second.
    ///
    /// A turn that has had its time leaves the other centers to the next.
    mutating func lookAtFarewells(_ outbox: inout Outbox) {
        guard let log = centers.log, log.unavailability == nil,
            outbox.loop.now >= part.nextLookAtFarewells
        else { return }
        let time = CommandTime(
            wallMilliseconds: 0, monotonicNanoseconds: centers.shard.logTime + Self.horizon)
        while part.lookedCenterCount < centers.count {  // Share: farewells
            let position = part.lookedCenterCount
            let farewells = centers[position].dueFarewells(at: time, among: Self.lookLimit)
            takeOutForbidden(farewells, of: position, &outbox)
            part.lookedCenterCount += 1
            if outbox.turnIsFull { return }
        }
        part.lookedCenterCount = 0
        part.nextLookAtFarewells = outbox.loop.now + .seconds(1)
    }

    /// A connection breaks: the farewells of its client that nobody would look at before they go are looked at now.
    mutating func lookAtFarewells(
        of client: UInt64, center name: [UInt8], _ outbox: inout Outbox
    ) {
        guard centers.log != nil, let position = centers.position(of: name) else { return }
        let farewells = centers[position].farewells(of: client, within: Self.horizon)
        takeOutForbidden(farewells, of: position, &outbox)
    }
}
