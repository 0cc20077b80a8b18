internal import BelfryCenter

/// The centers, each with a number that its rows in the other tables begin with.
struct CenterRows {
    private let putter: Statement
    private let sealer: Statement
    private let sequenceSetter: Statement
    private let remover: Statement
    private let finder: Statement
    private let reader: Statement
    private var numbers: [[UInt8]: Int64] = [:]
    /// The center that was asked for last: changes of one center mostly follow each other.
    private var last: (name: [UInt8], number: Int64)?

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT INTO center (id, name, epoch, sequence) VALUES (
                1 + max(
                    (SELECT coalesce(max(id), 0) FROM center),
                    (SELECT coalesce(max(value), 0) FROM setting WHERE name = 'centers_ended')),
                ?1, ?2, 0)
            ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch
            """)
        // The number of a new center is known when it is there.
        sealer = try connection.prepare(
            """
            UPDATE center SET checksum = belfry_checksum(id, name, epoch, sequence)
            WHERE name = ?1
            """)
        sequenceSetter = try connection.prepare(
            """
            UPDATE center SET sequence = max(sequence, ?2),
                checksum = belfry_checksum(id, name, epoch, max(sequence, ?2))
            WHERE id = ?1
            """)
        remover = try connection.prepare("DELETE FROM center WHERE id = ?1")
        finder = try connection.prepare("SELECT id FROM center WHERE name = ?1")
        reader = try connection.prepare("SELECT id, name, epoch, sequence FROM center ORDER BY id")
    }

    mutating func put(_ record: CenterRecord, name: [UInt8]) throws(StoreError) {
        putter.bind(name)
        putter.bind(record.epoch)
        try putter.run()
        sealer.bind(name)
        try sealer.run()
    }

    mutating func reserve(through sequence: UInt64, center: Int64) throws(StoreError) {
        sequenceSetter.bind(center)
        sequenceSetter.bind(sequence)
        try sequenceSetter.run()
    }

    /// Removes a center that has nothing but tombstones; returns its number, or nil if not stored.
    ///
    /// Rows that begin with its number may stay, because the number is never given again.
    mutating func end(_ name: [UInt8]) throws(StoreError) -> Int64? {
        guard let number = try stored(name) else { return nil }
        forgetNumbers()
        remover.bind(number)
        try remover.run()
        return number
    }

    /// The number of a center that was put before.
    mutating func number(of name: [UInt8]) throws(StoreError) -> Int64 {
        if let last, last.name == name { return last.number }
        let number = if let known = numbers[name] { known } else { try find(name) }
        numbers[name] = number
        last = (name, number)
        return number
    }

    /// Forgets the numbers, which a transaction that failed may have given.
    mutating func forgetNumbers() {
        numbers = [:]
        last = nil
    }

    /// All centers with their numbers, in the order of these.
    func load(isComplete: Bool) throws(StoreError) -> [(Int64, CenterImage)] {
        var centers: [(Int64, CenterImage)] = []
        while try reader.next() {
            var row = reader.row
            let number = row.integer()
            let (name, epoch) = (row.bytes(), row.bytes())
            let image = CenterImage(
                name: name, epoch: epoch, sequence: row.unsigned(), isComplete: isComplete)
            centers.append((number, image))
        }
        return centers
    }

    private func find(_ name: [UInt8]) throws(StoreError) -> Int64 {
        guard let number = try stored(name) else {
            preconditionFailure("a center is stored before what belongs to it")
        }
        return number
    }

    private func stored(_ name: [UInt8]) throws(StoreError) -> Int64? {
        finder.bind(name)
        return try finder.integer()
    }
}
