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
                        // A caller with a key keeps it: a slip of the pen locks no caller out.
                        configuration.keyring = nil
                        log.write(
                            .error, "the keys stay as they were", ("reason", error.sentence))
                    }
                    for mailbox in mailboxes { _ = mailbox.post(.reload(configuration)) }
                    renewCertificate(of: configuration, log: log)
                    renewEngineCertificates(of: configuration, log: log)
                } catch {
                    log.write(.error, "the configuration cannot be read", ("reason", "\(error)"))
                }
            }
        } catch {
            log.write(.error, "there is no thread to reload with", ("error", "\(error)"))
        }
    }
}
