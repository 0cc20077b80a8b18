/// How many clients a center has, by what they are told over and by their state.
public struct ClientCounts: Sendable {
    private var transports = InlineArray<3, Int>(repeating: 0)
    private var states = InlineArray<4, Int>(repeating: 0)
    /// How often a count has changed: who has seen them all looks at this alone.
    public private(set) var changeCount: UInt64 = 0

    /// Has none.
    public init() {}

    /// How many are told over something.
    public subscript(transport: Transport) -> Int { transports[Int(transport.rawValue)] }

    /// How many are in a state; one that is being written what was held counts as live.
    public subscript(state: ClientState) -> Int { states[Int(state.rawValue)] }

    /// Counts a client that comes, or with -1 one that goes.
    mutating func add(_ sign: Int, _ client: ClientTable.Client) {
        transports[Int(client.transport.rawValue)] += sign
        states[Int(client.suspension.state.rawValue)] += sign
        changeCount += 1
    }

    /// Counts a client whose suspension has become another one.
    mutating func move(
        from before: ClientTable.Suspension, to after: ClientTable.Suspension
    ) {
        guard before.state != after.state else { return }
        states[Int(before.state.rawValue)] -= 1
        states[Int(after.state.rawValue)] += 1
        changeCount += 1
    }
}

extension ClientTable.Suspension {
    /// The state that a client is in, whatever is being written to it.
    fileprivate var state: ClientState {
        if contains(.disconnected) { return .disconnected }
        if !isDisjoint(with: [.slow, .owing]) { return .slow }
        return contains(.asked) ? .asked : .live
    }
}
