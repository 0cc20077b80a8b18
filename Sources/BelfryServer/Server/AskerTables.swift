import Synchronization

/// Rates, connections and memory of principals and addresses.
struct AskerTables: ~Copyable, Sendable {
    /// Their recent requests.
    let rates = RateTables()
    /// Their connections.
    let seats = SeatTable()
    /// The memory that centers keep for them.
    let owners = OwnerTable()
    /// The limit of one log line a minute about callers that are not local.
    let strangers = Mutex(SeldomLine(interval: .seconds(60)))
}
