extension AskTable {
    /// An asker with a limit of open asks, by asking or by waiting with the key of another ask.
    enum Asker: Hashable, Sendable {
        case client(UInt64)
        case principal([UInt8])
    }
}

extension OpenAsk {
    /// The client or the principal that has asked.
    var asker: AskTable.Asker { client.map { .client($0) } ?? .principal(principal) }

    /// The asker that a waiter counts for: those that share a key are the same principal.
    func asker(of waiter: Waiter) -> AskTable.Asker {
        waiter.client.map { .client($0) } ?? .principal(principal)
    }
}

/// The open asks of each asker.
struct AskerTable: Sendable {
    /// The asks of each asker that are open, or awaited by a key, in the order of asking.
    ///
    /// An empty list stays for a while, as its asker may ask again.
    private var lists: [AskTable.Asker: [UInt32]] = [:]
    /// The number of lists that became empty since they were last removed.
    private var idleCount = 0

    /// The asks of an asker, each as often as it waits for it.
    subscript(asker: AskTable.Asker) -> [UInt32] { lists[asker] ?? [] }

    /// Adds an ask that an asker has made; returns how many it has.
    mutating func append(_ slot: UInt32, of asker: AskTable.Asker) -> Int {
        // One look-up finds the list and changes it.
        Self.append(slot, to: &lists[asker, default: []])
    }

    private static func append(_ slot: UInt32, to list: inout [UInt32]) -> Int {
        list.append(slot)
        return list.count
    }

    /// Adds an earlier ask that an asker waits for; returns how many it has.
    ///
    /// - Parameter isBehind: whether an ask was made after that one.
    mutating func insert(
        _ slot: UInt32, of asker: AskTable.Asker, where isBehind: (UInt32) -> Bool
    ) -> Int {
        let list = lists[asker] ?? []
        let place = list.indices.firstPlace { isBehind(list[$0]) }
        lists[asker, default: []].insert(slot, at: place)
        return list.count + 1
    }

    /// Removes an ask of an asker.
    ///
    /// - Parameter openCount: The number of open asks: empty lists are removed so rarely that each
    ///   removal pays for a small share.
    mutating func leave(_ slot: UInt32, of asker: AskTable.Asker, openCount: Int) {
        // Mostly it is the newest; when an asker leaves, the oldest is the first to end.
        guard let list = lists.index(forKey: asker),
            let place = lists.values[list].first == slot
                ? 0 : lists.values[list].lastIndex(of: slot)
        else { return }
        lists.values[list].remove(at: place)
        guard lists.values[list].isEmpty else { return }
        idleCount += 1
        guard idleCount > 64 + openCount else { return }
        lists = lists.filter { !$0.value.isEmpty }
        idleCount = 0
    }
}

extension AskerTable: Coded {
    /// Writes the number of asks of each asker; the asks themselves determine the rest.
    init(_ known: AskerTable?, by coder: inout some Coder) throws(CodeError) {
        let counts = try coder.table(known?.lists.mapValues(\.count), by: AskTable.Asker.isBefore)
        idleCount = try coder(known?.idleCount)
        lists = known?.lists ?? counts.mapValues { _ in [] }
    }
}

extension AskTable.Asker: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .client(let id): try coder.write(case: 0, id)
        case .principal(let name): try coder.write(case: 1, name)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> AskTable.Asker {
        switch number {
        case 0: .client(try coder.next())
        case 1: .principal(try coder.next())
        default: throw .malformed
        }
    }

    fileprivate static func isBefore(_ left: Self, _ right: Self) -> Bool {
        switch (left, right) {
        case (.client(let left), .client(let right)): left < right
        case (.principal(let left), .principal(let right)): left.lexicographicallyPrecedes(right)
        case (.client, .principal): true
        case (.principal, .client): false
        }
    }
}
