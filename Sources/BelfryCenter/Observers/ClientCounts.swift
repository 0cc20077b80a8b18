/// How many clients a center has, by what they are told over and by their state.
public struct ClientCounts: Sendable {
    /// Those by transport, and then those by state.
    private var counts = InlineArray<7, Int>(repeating: 0)
    /// How often a count has changed.
    public private(set) var changeCount: UInt64 = 0

    /// Has none.
    public init() {}

    /// How many counts there are.
    public static let placeCount = 7

    /// Where the clients that are told over something are counted.
    public static func place(of transport: Transport) -> Int { Int(transport.rawValue) }

    /// Where those in a state are; one that is being written what was held counts as live.
    public static func place(of state: ClientState) -> Int { 3 + Int(state.rawValue) }

    /// How many are counted in a place.
    public subscript(place: Int) -> Int { counts[place] }

    /// Counts a client that comes, or with -1 one that goes.
    mutating func add(_ sign: Int, _ client: ClientTable.Client) {
        counts[Self.place(of: client.transport)] += sign
        counts[Self.place(of: client.suspension.state)] += sign
        changeCount += 1
    }

    /// Counts a client whose suspension has become another one.
    mutating func move(
        from before: ClientTable.Suspension, to after: ClientTable.Suspension
    ) {
        guard before.state != after.state else { return }
        counts[Self.place(of: before.state)] -= 1
        counts[Self.place(of: after.state)] += 1
        changeCount += 1
    }
}

extension ClientCounts: Coded {
    init(_ known: ClientCounts?, by coder: inout some Coder) throws(CodeError) {
        self.init()
        // Bound: few
        for place in 0..<Self.placeCount { counts[place] = try coder(known?.counts[place]) }
        changeCount = try coder(known?.changeCount)
    }
}
