import BelfryCenter
import BelfryWire

// Numbers are given when a command is applied: where several brokers share the centers, all of them give the same.

extension Numbers {
    /// Gives numbers to what a command makes that a sequencer has given back.
    ///
    /// - Returns: the number of the client, or of the mode lease.
    /// - Throws: 503 as long as the next ones are not stored.
    func give(to action: inout Command.Action) throws(Problem) -> UInt64 {
        switch action {
        case .connect(var client, var newcomers, let since):
            client.id = try clients.take()
            for place in newcomers.indices { newcomers[place].serial = try observers.take() }
            action = .connect(client, observers: newcomers, since: since)
            return client.id
        case .addObserver(var observer, let client, let since):
            observer.serial = try observers.take()
            action = .addObserver(observer, client: client, since: since)
            return client
        case .enterMode(var entry):
            entry.serial = try modes.take()
            action = .enterMode(entry)
            return entry.serial
        default: return 0
        }
    }
}
