extension HeldTable {
    /// A list of entries of one client, and the bytes of their notifications.
    struct ClientList: Sendable {
        var list = List()
        /// The bytes, each counted for each observer.
        var byteCount = 0
    }

    /// Puts an entry at the end of a list of its client.
    mutating func append(_ entry: UInt32, to entries: inout ClientList) {
        append(entry, to: &entries.list, in: .client)
        entries.byteCount += byteCount(of: entry)
    }

    /// Removes an entry from a list of its client.
    mutating func remove(_ entry: UInt32, from entries: inout ClientList) {
        remove(entry, from: &entries.list, in: .client)
        entries.byteCount -= byteCount(of: entry)
    }
}
