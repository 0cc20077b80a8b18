import BelfryCenter
import BelfryLoop
import BelfrySystem

// In a cluster the log fires `onDisconnect` posts and cannot check keys (rule L10). Each broker
// looks two seconds ahead and removes those whose poster lost the right, by its own file of keys.

extension CenterHost {
    /// The time that a broker looks ahead, in nanoseconds.
    ///
    /// An entry of the log takes less, except during an election of the engine.
    private static let horizon: Int64 = 2_000_000_000
    /// The most timers of a center that one look checks.
    private static let lookLimit = 10_000

    /// Removes, once a second, the farewells that fire soon and whose posters lost the right.
    ///
    /// A turn whose time is over leaves the other centers to the next.
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

    /// Checks the farewells of a lost client that would fire before the next look.
    mutating func lookAtFarewells(
        of client: UInt64, center name: [UInt8], _ outbox: inout Outbox
    ) {
        guard centers.log != nil, let position = centers.position(of: name) else { return }
        let farewells = centers[position].farewells(of: client, within: Self.horizon)
        takeOutForbidden(farewells, of: position, &outbox)
    }
}
