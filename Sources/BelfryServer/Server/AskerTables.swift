/// What is known of those who ask: of principals, and of addresses.
struct AskerTables: Sendable {
    /// What they have asked for lately.
    let rates = RateTables()
    /// Their connections.
    let seats = SeatTable()
    /// What centers keep for them.
    let owners = OwnerTable()
}
