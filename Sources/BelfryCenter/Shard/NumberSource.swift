/// A source of numbers that are never given twice.
public protocol NumberSource {
    /// The reason why there is no number.
    associatedtype Failure: Error

    /// The next number for something of a kind.
    mutating func next(_ kind: NumberedKind) throws(Failure) -> UInt64
}

/// The kinds of objects that have numbers of their own.
public enum NumberedKind: Sendable, CaseIterable {
    /// Observers, whose numbers are in their tokens.
    case observer
    /// Clients, whose numbers are in their sessions.
    case client
    /// Leases on modes.
    case mode
}

extension Command.Action {
    /// Gives numbers to the objects that a command makes.
    ///
    /// That is done when the command is applied: so all brokers that share a log give the same.
    ///
    /// - Returns: The number of the client, or of the mode lease.
    public mutating func takeNumbers<Source: NumberSource>(
        from source: inout Source
    ) throws(Source.Failure) -> UInt64 {
        switch self {
        case .connect(var client, var newcomers, let since):
            client.id = try source.next(.client)
            for place in newcomers.indices {  // Bound: registrations
                newcomers[place].serial = try source.next(.observer)
            }
            self = .connect(client, observers: newcomers, since: since)
            return client.id
        case .addObserver(var observer, let client, let since):
            observer.serial = try source.next(.observer)
            self = .addObserver(observer, client: client, since: since)
            return client
        case .enterMode(var entry):
            entry.serial = try source.next(.mode)
            self = .enterMode(entry)
            return entry.serial
        case .onConnection(let place, var action):
            let number = try action.takeNumbers(from: &source)
            self = .onConnection(place, action)
            return number
        case .within(let cover, var action):
            let number = try action.takeNumbers(from: &source)
            self = .within(cover, action)
            return number
        default: return 0
        }
    }
}
