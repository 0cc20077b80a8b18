/// How many clients a center has, by transport and by state.
public struct ClientCounts: Sendable {
    /// The counts by transport, and then those by state.
    private var counts = InlineArray<7, Int>(repeating: 0)
    /// How often a count has changed.
    public private(set) var changeCount: UInt64 = 0

    /// Makes counts of no clients.
    public init() {}

    /// How many counts there are.
    public static let placeCount = 7

    /// The place of the clients of a transport.
    public static func place(of transport: Transport) -> Int { Int(transport.rawValue) }

    /// The place of the clients in a state; one whose held notifications are being written is live.
    public static func place(of state: ClientState) -> Int { 3 + Int(state.rawValue) }

    /// The number of clients counted in a place.
    public subscript(place: Int) -> Int { counts[place] }

    /// Counts a new client, or removes one with -1.
    mutating func add(_ sign: Int, _ client: ClientTable.Client) {
        counts[Self.place(of: client.transport)] += sign
        counts[Self.place(of: client.suspension.state)] += sign
        changeCount += 1
    }

    /// Moves a client whose suspension has changed to the place of its new state.
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
