import Synchronization

/// What is known of those who ask: of principals, and of addresses.
struct AskerTables: ~Copyable, Sendable {
    /// What they have asked for lately.
    let rates = RateTables()
    /// Their connections.
    let seats = SeatTable()
    /// What centers keep for them.
    let owners = OwnerTable()
    /// When the log was told of one that is not local.
    let strangers = Mutex(SeldomLine(interval: .seconds(60)))
}
