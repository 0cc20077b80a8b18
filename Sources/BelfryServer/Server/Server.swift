public import BelfryAccess
import BelfryLoop
import BelfryTLS

import BelfrySystem

/// The broker.
public enum Server {
    /// The version in metrics and in `belfry version`.
    public static let version = Release.version

    /// Checks the files of keys that a configuration names.
    ///
    /// - Throws: `.configuration` and `.keys`.
    public static func check(_ configuration: ServerConfiguration, log: ServerLog)
        throws(StartError)
    {
        if let fault = configuration.fault() { throw .configuration(fault) }
        let limit = try StartError.systemCall(DescriptorLimit.current)
        _ = try configuration.connectionLimit(descriptorCount: limit.hard)
        _ = try readKeys(configuration, log: log)
    }

    /// The keys of callers and of tokens that a configuration names.
    ///
    /// It reads files, so it may block.
    ///
    /// - Throws: `.keys`.
    public static func readKeys(
        _ configuration: ServerConfiguration, log: ServerLog
    ) throws(StartError) -> Keyring {
        do throws(AccessFileFault) {
            return try AccessFiles.read(configuration.access, log: log)
        } catch {
            throw .keys(error.sentence)
        }
    }

    /// Runs a broker until SIGTERM or SIGINT stops it.
    ///
    /// While the store is read and the centers are made, requests are answered that the broker is
    /// starting. The calling thread becomes the first event loop; each other loop gets a thread of
    /// its own.
    ///
    /// - Parameters:
    ///   - configuration: the options.
    ///   - reload: reads the configuration anew when SIGHUP asks for it; it may block.
    ///   - log: gets one entry `listening` with the addresses once the broker is ready.
    /// - Throws: the reason why it could not start, or the error of a loop.
    public static func run(
        _ configuration: ServerConfiguration, log: ServerLog,
        reload: (@Sendable () throws -> ServerConfiguration)? = nil
    ) throws(StartError) {
        if let fault = configuration.fault() { throw .configuration(fault) }
        MemoryLimit.returnLargeBlocks()
        let memory = MemoryLimit.current()
        var configuration = configuration.fitted(to: memory)
        configuration.logMemory(memory, in: log)
        let certificate: TLSContext?
        do throws(CertificateFault) {
            certificate = try loadCertificate(of: configuration)
        } catch {
            throw .certificate(error.sentence)
        }
        // New threads inherit the mask of blocked signals: this comes before the first of them.
        let signals = try blockSignals()
        configuration.keyring = try readKeys(configuration, log: log)
        let descriptors = try StartError.systemCall(DescriptorLimit.raise)
        let connectionLimit = try configuration.connectionLimit(descriptorCount: descriptors.soft)
        let mailboxes = try StartError.systemCall { () throws(SystemCallError) in
            try SharedState.makeMailboxes(loopCount: configuration.loopCount)
        }
        let begun = try ServerStart.make(
            configuration, certificate, signals: signals, mailboxes: mailboxes, log: log,
            connectionLimit: connectionLimit)
        let cluster = try ClusterStart.make(configuration)
        guard var start = begun else { return log.write(.info, "stopped") }
        let verifier = TokenVerifier()
        let shared = SharedState(
            mailboxes: mailboxes, reload: Self.fitting(reload, to: memory),
            beginning: start.takeBeginning(), verifier: verifier)
        var failure: StartError?
        do throws(StartError) {
            if let certificate { shared.note(certificate, in: log) }
            let thread = try StartError.systemCall { () throws(SystemCallError) in
                try shared.figures.process.start()
                return try verifier.start(mailboxes)
            }
            defer { verifier.close() }
            let trimming = try StartError.systemCall { () throws(SystemCallError) in
                try shared.trimmer.start()
            }
            defer { shared.trimmer.close() }
            try serve(
                &start, certificate, cluster, shared: shared, log: log, signals: signals,
                connectionLimit: connectionLimit)
            verifier.close()
            thread.join()
            shared.trimmer.close()
            trimming.join()
        } catch {
            failure = error
        }
        // A broker that could not serve ends its store in order, too.
        if let store = start.store, !store.close() {
            log.write(.error, "the store could not be ended in order")
        }
        if let failure { throw failure }
        log.write(.info, "stopped")
    }

    /// Fits each reloaded configuration to the memory, as the first one.
    private static func fitting(
        _ reload: (@Sendable () throws -> ServerConfiguration)?, to memory: Int?
    ) -> (@Sendable () throws -> ServerConfiguration)? {
        guard let reload else { return nil }
        return { try reload().fitted(to: memory) }
    }

    /// Blocks signals in every thread; the first loop reads them.
    private static func blockSignals() throws(StartError) -> SignalDescriptor {
        do throws(SystemCallError) {
            try SignalDescriptor.ignoreBrokenPipe()
            return try SignalDescriptor(ServerLoop.stopSignals + [ServerLoop.reloadSignal])
        } catch {
            throw .system(error)
        }
    }

    private static func serve(
        _ start: inout ServerStart, _ certificate: TLSContext?, _ cluster: ClusterStart?,
        shared: SharedState, log: ServerLog, signals: consuming SignalDescriptor,
        connectionLimit: Int
    ) throws(StartError) {
        let configuration = start.listeners.configuration
        let connectionLimit = max(
            1,
            min(connectionLimit, configuration.fittingConnectionCount) / configuration.loopCount)
        var failure: StartError?
        do throws(SystemCallError) {
            var first = try ServerLoop(
                number: 0, configuration, shared: shared, log: log,
                connectionLimit: connectionLimit, sequencer: cluster?.sequencer,
                engine: cluster?.engine, monitor: cluster?.monitor)
            first.outbox.loop.sharesArrivals = configuration.loopCount > 1
            start.leaveListeners()
            try first.listen(with: start.listeners, certificate)
            try first.outbox.loop.attach(signals)
            var threads: [LoopThread] = []
            for number in 1..<max(1, configuration.loopCount) {
                threads.append(
                    try LoopThread(
                        number: number, configuration, certificate, shared: shared, log: log,
                        connectionLimit: connectionLimit))
            }
            log.write(
                .info, "listening",
                ("addresses", configuration.addressTexts.joined(separator: ",")),
                ("console", configuration.consoleText), ("loops", configuration.loopCount))
            try first.run()
            for thread in threads { thread.join() }
            failure = first.failure
        } catch {
            throw .system(error)
        }
        if let failure { throw failure }
    }
}

/// The thread of an event loop that is not the first.
private final class LoopThread {
    private var thread: SystemThread?

    init(
        number: Int, _ configuration: ServerConfiguration, _ certificate: TLSContext?,
        shared: SharedState, log: ServerLog, connectionLimit: Int
    ) throws(SystemCallError) {
        thread = try SystemThread {
            do throws(SystemCallError) {
                var loop = try ServerLoop(
                    number: number, configuration, shared: shared, log: log,
                    connectionLimit: connectionLimit)
                loop.shareListeners(certificate)
                try loop.run()
            } catch {
                log.write(.error, "a loop has failed", ("loop", number), ("error", "\(error)"))
            }
        }
    }

    func join() {
        thread.take()?.join()
    }
}
