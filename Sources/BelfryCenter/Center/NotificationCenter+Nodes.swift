// The connections that end with the life of a broker, where several brokers share a center.

extension NotificationCenter {
    /// The connection of a client that has one.
    func connection(of id: UInt64) -> ConnectionName? {
        guard let client = clients.slot(of: id),
            !clients[client].suspension.contains(.disconnected)
        else { return nil }
        return clients[client].connection
    }

    /// Whether a connection is still that of a client, or reads one of its mailboxes.
    func isThere(_ place: ClientConnection) -> Bool {
        if connection(of: place.client) == place.connection { return true }
        guard let client = clients.slot(of: place.client), clients[client].readerCount > 0 else {
            return false
        }
        return observers.slots(from: clients[client].lastObserver).contains {
            observers[$0].reader == place.connection
        }
    }

    /// The commands that end all connections of one broker, by client and observer.
    ///
    /// - Parameters:
    ///   - seat: The life of the broker, as in the names of connections.
    ///   - end: The way in which its connections have ended.
    func departures(from seat: UInt32, _ end: ConnectionEnd) -> [Command.Action] {
        var departures: [Command.Action] = []
        for entry in clients.order.living {  // Bound: lost broker
            let client = entry.slot
            let connection = clients[client].connection
            if connection.node == seat, clients[client].transport != .mailbox,
                !clients[client].suspension.contains(.disconnected)
            {
                departures.append(
                    .disconnect(client: clients[client].id, connection: connection, end: end))
            }
            guard clients[client].readerCount > 0 else { continue }
            for slot in observers.slots(from: clients[client].lastObserver) {  // Bound: lost broker
                guard let reader = observers[slot].reader, reader.node == seat else { continue }
                departures.append(
                    .detachReader(observer: observers[slot].serial, reader))
            }
        }
        return departures
    }
}
