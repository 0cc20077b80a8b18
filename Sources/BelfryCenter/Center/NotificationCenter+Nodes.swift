// The connections that end with the life of a broker, where several brokers share a center.

extension NotificationCenter {
    /// The connection of a client that has one.
    func connection(of id: UInt64) -> ConnectionName? {
        guard let client = registry.clients.slot(of: id),
            !registry.clients[client].suspension.contains(.disconnected)
        else { return nil }
        return registry.clients[client].connection
    }

    /// Whether a connection is still that of a client, or reads one of its mailboxes.
    func isThere(_ place: ClientConnection) -> Bool {
        if connection(of: place.client) == place.connection { return true }
        guard let client = registry.clients.slot(of: place.client),
            registry.clients[client].readerCount > 0
        else {
            return false
        }
        return registry.observerSlots(of: client).contains {
            registry.observers[$0].mailbox.reader == place.connection
        }
    }

    /// The commands that end all connections of one broker, by client and observer.
    ///
    /// - Parameters:
    ///   - seat: The life of the broker, as in the names of connections.
    ///   - end: The way in which its connections have ended.
    func departures(from seat: UInt32, _ end: ConnectionEnd) -> [Command.Action] {
        var departures: [Command.Action] = []
        for entry in registry.clients.order.living {  // Bound: lost broker
            let client = entry.slot
            let connection = registry.clients[client].connection
            if connection.node == seat, registry.clients[client].transport != .mailbox,
                !registry.clients[client].suspension.contains(.disconnected)
            {
                departures.append(
                    .disconnect(
                        client: registry.clients[client].id, connection: connection, end: end))
            }
            guard registry.clients[client].readerCount > 0 else { continue }
            for slot in registry.observerSlots(of: client) {  // Bound: lost broker
                guard let reader = registry.observers[slot].mailbox.reader, reader.node == seat
                else { continue }
                departures.append(
                    .detachReader(observer: registry.observers[slot].serial, reader))
            }
        }
        return departures
    }
}
