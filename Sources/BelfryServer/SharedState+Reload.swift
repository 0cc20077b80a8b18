import BelfryCenter
import BelfryLoop
import BelfrySystem

extension SharedState {
    /// Reads the configuration on a thread of its own, and hands it to all loops.
    ///
    /// A configuration that cannot be read or served changes nothing, and the log says why.
    func askForReload(log: ServerLog) {
        guard let reload else {
            log.write(.info, "there is no configuration to reload")
            return
        }
        do throws(SystemCallError) {
            // The thread runs on by itself; dropping it detaches it.
            _ = try SystemThread { [self] in
                do {
                    var configuration = try reload()
                    if let fault = configuration.fault() {
                        log.write(.error, "the new configuration is refused", ("reason", fault))
                        return
                    }
                    do throws(AccessFileFault) {
                        configuration.keyring = try AccessFiles.read(configuration.access, log: log)
                    } catch {
                        // Who has a key keeps it: a slip of the pen locks nobody out.
                        configuration.keyring = nil
                        log.write(
                            .error, "the keys stay as they were", ("reason", error.sentence))
                    }
                    for mailbox in mailboxes { _ = mailbox.post(.reload(configuration)) }
                    renewCertificate(of: configuration, log: log)
                } catch {
                    log.write(.error, "the configuration cannot be read", ("reason", "\(error)"))
                }
            }
        } catch {
            log.write(.error, "there is no thread to reload with", ("error", "\(error)"))
        }
    }
}

extension ServerLoop {
    /// Takes from a new configuration what can change while connections stay.
    ///
    /// That is timeouts, limits, origins, hosts, keys and grants. The rest keeps its value, and the log names it.
    mutating func take(_ new: ServerConfiguration) {
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
        configuration = taken
        adoptConfiguration()
        if new.keyring != nil { adoptKeyring() }
        for position in 0..<centers.count {
            submitCommand(.configure(centers.limits), to: position, isPromise: false)
            fanOut()
        }
        if number == 0 {
            log.write(
                .info, "configuration reloaded",
                (
                    "needsRestart",
                    needsRestart
                        ? "loops, max-connections, debug-endpoints, lease, data, durability, a limit of the wire, of the store or of a socket"
                        : "none"
                ))
        }
    }
}
