import BelfryLoop
public import BelfrySystem
import Synchronization

/// The broker.
public enum Server {
    /// The version that is told in metrics and by `belfry version`.
    public static let version = "0.1.0"

    /// Why a broker could not start.
    public enum StartError: Error, Equatable, Sendable {
        /// The configuration cannot be served; the sentence says why.
        case configuration(String)
        /// The address cannot be listened on.
        case listen(SocketAddress, SystemCallError)
        /// The system refused something else.
        case system(SystemCallError)
    }

    /// Runs a broker until it is told to stop by SIGTERM or SIGINT.
    ///
    /// The calling thread becomes the first event loop; each other loop gets a thread of its own.
    ///
    /// - Parameters:
    ///   - configuration: what was asked for.
    ///   - reload: reads the configuration anew when SIGHUP asks for it; it may block.
    ///   - log: gets one entry `listening` with the addresses once the broker is ready.
    /// - Throws: why it could not start, or what a loop failed with.
    public static func run(
        _ configuration: ServerConfiguration, log: ServerLog,
        reload: (@Sendable () throws -> ServerConfiguration)? = nil
    ) throws(StartError) {
        if let fault = configuration.fault() { throw .configuration(fault) }
        do throws(SystemCallError) {
            try SignalDescriptor.ignoreBrokenPipe()
            let signals = try SignalDescriptor(ServerLoop.stopSignals + [ServerLoop.reloadSignal])
            let limit = try DescriptorLimit.raise()
            let connectionLimit =
                configuration.connectionLimit ?? max(1, limit.soft * 9 / 10 - 16)
            let shared = try SharedState(loopCount: configuration.loopCount, reload: reload)
            try start(
                configuration, shared: shared, log: log, signals: signals,
                connectionLimit: max(1, connectionLimit / configuration.loopCount))
        } catch {
            throw .system(error)
        }
    }

    private static func start(
        _ configuration: ServerConfiguration, shared: SharedState, log: ServerLog,
        signals: consuming SignalDescriptor, connectionLimit: Int
    ) throws(SystemCallError) {
        var first = try ServerLoop(
            number: 0, configuration, shared: shared, log: log, connectionLimit: connectionLimit)
        try first.loop.attach(signals)
        var resolved = configuration
        resolved.listenAddresses = try first.listen(on: configuration.listenAddresses)
        var threads: [LoopThread] = []
        for number in 1..<max(1, configuration.loopCount) {
            threads.append(
                try LoopThread(
                    number: number, resolved, shared: shared, log: log,
                    connectionLimit: connectionLimit))
        }
        log.write(
            .info, "listening",
            ("addresses", resolved.listenAddresses.map(\.description).joined(separator: ",")),
            ("loops", "\(configuration.loopCount)"))
        try first.run()
        for thread in threads { thread.join() }
        log.write(.info, "stopped")
    }
}

/// The thread of an event loop that is not the first.
private final class LoopThread {
    private var thread: SystemThread?

    init(
        number: Int, _ configuration: ServerConfiguration, shared: SharedState, log: ServerLog,
        connectionLimit: Int
    ) throws(SystemCallError) {
        thread = try SystemThread {
            do throws(SystemCallError) {
                var loop = try ServerLoop(
                    number: number, configuration, shared: shared, log: log,
                    connectionLimit: connectionLimit)
                _ = try loop.listen(on: configuration.listenAddresses)
                try loop.run()
            } catch {
                log.write(.error, "a loop has failed", ("loop", "\(number)"), ("error", "\(error)"))
            }
        }
    }

    func join() {
        thread.take()?.join()
    }
}
