import Synchronization

/// Rates, connections and memory of principals and addresses.
struct AskerTables: ~Copyable, Sendable {
    /// Their recent requests.
    let rates = RateTables()
    /// Their connections.
    let seats = SeatTable()
    /// The memory that centers keep for them.
    let owners = OwnerTable()
    /// The last time that the log reported one that is not local.
    let strangers = Mutex(SeldomLine(interval: .seconds(60)))
}
