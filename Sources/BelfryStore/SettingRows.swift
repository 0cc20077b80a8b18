internal import BelfryCenter
internal import BelfrySystem

/// The settings of the whole broker: one number a row.
struct SettingRows {
    /// The names of the rows.
    enum Name: String {
        case observersReserved = "observers_reserved"
        case clientsReserved = "clients_reserved"
        case modesReserved = "modes_reserved"
        case incarnation
        case inode
        case endedInOrder = "ended_in_order"
        case isCopied = "is_copied"
        /// The greatest number of a center that has ended: no later one has it.
        case centersEnded = "centers_ended"
        /// The key of the tags of values, in halves.
        case tagKeyHigh = "tag_key_high"
        case tagKeyLow = "tag_key_low"
    }

    private let setter: Statement
    private let raiser: Statement
    private let getter: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        setter = try connection.prepare(
            "INSERT OR REPLACE INTO setting VALUES (?1, ?2, belfry_checksum(?1, ?2))")
        raiser = try connection.prepare(
            """
            INSERT INTO setting VALUES (?1, ?2, belfry_checksum(?1, ?2))
            ON CONFLICT DO UPDATE SET value = max(value, excluded.value),
                checksum = belfry_checksum(name, max(value, excluded.value))
            """)
        getter = try connection.prepare("SELECT value FROM setting WHERE name = ?1")
    }

    func set(_ name: Name, to value: UInt64) throws(StoreError) {
        setter.bind(text: name.rawValue)
        setter.bind(value)
        try setter.run()
    }

    /// Sets a number that never goes back.
    func raise(_ name: Name, to value: UInt64) throws(StoreError) {
        raiser.bind(text: name.rawValue)
        raiser.bind(value)
        try raiser.run()
    }

    /// Skips all numbers that the lost part may have given, and gives all centers new epochs.
    func skipNumbers(after losses: StoreLosses) throws(StoreError) {
        // A block is 65,536; of a row that is lost nothing is known.
        let skipped: UInt64 = losses.rows[.setting] == nil ? 1 << 24 : 1 << 40
        for name in [Name.observersReserved, .clientsReserved, .modesReserved] {
            try set(name, to: try value(of: name) &+ skipped)
        }
        try set(.isCopied, to: 1)
    }

    /// Skips to numbers that no other life uses, with new epochs for all centers.
    ///
    /// This life may never be stored, and the next one begins where this one did.
    func leaveNumbers() throws(StoreError) {
        var random = SystemRandom()
        // A block is 65,536 numbers; 2^28 places for them lie above all that is reserved.
        let skipped = 1 << 40 + (random.next() >> 36) << 16
        for name in [Name.observersReserved, .clientsReserved, .modesReserved] {
            try set(name, to: try value(of: name) &+ skipped)
        }
        try set(.isCopied, to: 1)
    }

    /// The key of the tags of values, which is made where there is none or half of one.
    ///
    /// A copy of the file has it, too: the values that are put back have their tags.
    func tagKey() throws(StoreError) -> TagKey {
        let known = TagKey(high: try value(of: .tagKeyHigh), low: try value(of: .tagKeyLow))
        if known.high != 0, known.low != 0 { return known }
        var random = SystemRandom()
        let key = TagKey(high: random.next() | 1, low: random.next() | 1)
        try set(.tagKeyHigh, to: key.high)
        try set(.tagKeyLow, to: key.low)
        return key
    }

    /// A number, 0 when it was never set.
    func value(of name: Name) throws(StoreError) -> UInt64 {
        getter.bind(text: name.rawValue)
        return UInt64(bitPattern: try getter.integer() ?? 0)
    }
}
