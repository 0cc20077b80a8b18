internal import BelfryLoop
internal import BelfrySystem

/// SIGINT and SIGTERM as something to wait for, so that a program removes its observers first.
public struct StopSignals: Sendable {
    // The numbers of signal(7) on Linux.
    private static let interrupt: Int32 = 2
    private static let terminate: Int32 = 15

    /// Takes the two signals away from their default action, which ends the process.
    ///
    /// Make it on the main thread before anything else is started.
    /// - Throws: `ClientError.system`.
    public init() throws(ClientError) {
        do throws(SystemCallError) {
            try SignalDescriptor.ignoreBrokenPipe()
            // The signals stay blocked when the descriptor is closed, here and in later threads.
            _ = try SignalDescriptor([Self.interrupt, Self.terminate])
        } catch {
            throw .system(error)
        }
    }

    /// Waits for the first of them.
    ///
    /// - Parameter again: called on another thread when a second one comes, for a program that
    ///   hangs on its way to the end.
    /// - Throws: `ClientError.system`.
    public func wait(again: @escaping @Sendable () -> Void) async throws(ClientError) {
        let outcome = await withCheckedContinuation { continuation in
            Self.start({ continuation.resume(returning: $0) }, again: again)
        }
        try outcome.get()
    }

    private static func start(
        _ first: @escaping @Sendable (Result<Void, ClientError>) -> Void,
        again: @escaping @Sendable () -> Void
    ) {
        do throws(SystemCallError) {
            _ = try SystemThread { collect(first, again: again) }
        } catch {
            first(.failure(.system(error)))
        }
    }

    private static func collect(
        _ first: (Result<Void, ClientError>) -> Void, again: () -> Void
    ) {
        var hasCome = false
        do throws(SystemCallError) {
            var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
            loop.reportsIdle = false
            try loop.attach(try SignalDescriptor([interrupt, terminate]))
            try waitForSignal(&loop)
            hasCome = true
            first(.success(()))
            try waitForSignal(&loop)
            again()
        } catch {
            if !hasCome { first(.failure(.system(error))) }
        }
    }

    private static func waitForSignal(_ loop: inout EventLoop) throws(SystemCallError) {
        var input: [UInt8] = [0]
        while true {
            if case .signal = try loop.nextEvent(into: &input) { return }
        }
    }
}
