import BelfryAccess

extension ServerLoop {
    /// Adopts the options of a new configuration that can change while connections stay.
    ///
    /// These are timeouts, limits, origins, hosts, keys and grants. The others keep their values,
    /// and the log names them.
    mutating func take(_ new: ServerConfiguration) {
        let configuration = outbox.configuration
        var taken = new
        taken.listenAddresses = configuration.listenAddresses
        taken.tlsListenAddresses = configuration.tlsListenAddresses
        taken.loopCount = configuration.loopCount
        taken.connectionLimit = configuration.connectionLimit
        taken.hasDebugEndpoints = configuration.hasDebugEndpoints
        taken.wireLimits = configuration.wireLimits
        taken.dataDirectory = configuration.dataDirectory
        taken.durability = configuration.durability
        taken.storeByteLimit = configuration.storeByteLimit
        taken.highWaterByteCount = configuration.highWaterByteCount
        taken.lowWaterByteCount = configuration.lowWaterByteCount
        taken.keyring = new.keyring ?? configuration.keyring
        let needsRestart =
            new.loopCount != configuration.loopCount
            || new.connectionLimit != configuration.connectionLimit
            || new.hasDebugEndpoints != configuration.hasDebugEndpoints
            || new.wireLimits != configuration.wireLimits
            || new.dataDirectory != configuration.dataDirectory
            || new.durability != configuration.durability
            || new.storeByteLimit != configuration.storeByteLimit
            || new.highWaterByteCount != configuration.highWaterByteCount
            || new.lowWaterByteCount != configuration.lowWaterByteCount
        outbox.adopt(taken)
        callers.adopt(taken, shares: outbox.shares)
        if let keyring = new.keyring {
            callers.adopt(keyring, &outbox)
            host.polls.endAll { !keyring.stillHas($0.submission.caller) }
            host.asks.endPolls { !keyring.stillHas($0.submission.caller) }
            host.values.endPolls { !keyring.stillHas($0.submission.caller) }
        }
        host.adopt(taken, &outbox)
        if outbox.number == 0 {
            outbox.log.write(
                .info, "configuration reloaded",
                (
                    "needsRestart",
                    needsRestart
                        ? """
                        loops, max-connections, debug-endpoints, lease, data, durability, a limit \
                        of the wire, of the store or of a socket
                        """
                        : "none"
                ))
        }
    }
}
