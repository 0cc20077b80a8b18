import BelfryCenter
import BelfryLoop
import BelfrySystem

extension ServerConfiguration {
    /// One limit that was lowered.
    struct LoweredLimit: Equatable {
        let kind: MemoryKind
        let byteLimit: Int
    }

    /// The limit in bytes below which no limit is lowered.
    static let leastByteLimit = 512 << 10

    /// Lowers each limit of memory to its part of the process's memory (decision 72).
    ///
    /// - Returns: the lowered limits; none when all fit.
    mutating func fit(to memoryByteCount: Int) -> [LoweredLimit] {
        var lowered: [LoweredLimit] = []
        for kind in MemoryKind.allCases {
            let part = kind.part(of: memoryByteCount)
            let new = max(min(self[keyPath: kind.limit], Self.leastByteLimit), part)
            guard new < self[keyPath: kind.limit] else { continue }
            self[keyPath: kind.limit] = new
            lowered.append(LoweredLimit(kind: kind, byteLimit: new))
        }
        // Texts of held, queued, asked or timed notifications, and answers, are a part of their
        // costs.
        heldByteLimit = min(heldByteLimit, memory.held)
        queueByteLimit = min(queueByteLimit, memory.queue)
        askByteLimit = min(askByteLimit, memory.queue)
        timerByteLimit = min(timerByteLimit, memory.queue)
        // A byte of a value costs several.
        valueByteLimit = min(valueByteLimit, memory.queue / 8)
        centerLimits.answerMemoryLimit = min(centerLimits.answerMemoryLimit, memory.fates)
        return lowered
    }

    /// A copy with its limits lowered to the process's memory.
    ///
    /// - Parameter memoryByteCount: the limit of the control group; `--memory-limit` comes before
    ///   it.
    public func fitted(to memoryByteCount: Int?) -> ServerConfiguration {
        guard let memoryByteCount = memoryByteLimit ?? memoryByteCount else { return self }
        var fitted = self
        _ = fitted.fit(to: memoryByteCount)
        return fitted
    }

    /// A copy with its limits lowered to the memory that this process may have now.
    public func fittedToMemory() -> ServerConfiguration { fitted(to: MemoryLimit.current()) }

    /// Logs the memory that the process may have, and the limit of each kind.
    func logMemory(_ memoryByteCount: Int?, in log: ServerLog) {
        let limits = MemoryKind.allCases.map { "\($0.option)=\(self[keyPath: $0.limit])" }
        let memory = (memoryByteLimit ?? memoryByteCount).map { "\($0)" } ?? "unlimited"
        log.write(
            .debug, "memory limits", ("memory", memory),
            ("limits", limits.joined(separator: ",")))
    }

    /// The cost of an open connection in the broker's own tables.
    static var ownConnectionByteCount: Int {
        EventLoop.connectionByteCount + MemoryLayout<Connection>.stride
    }

    /// The cost of an open connection in the kernel.
    ///
    /// It has two empty buffers, a file, an inode, and an entry of epoll. A control group counts
    /// them, though they are in no process.
    private static let kernelByteCount = 4 << 10

    /// The whole cost of an open connection, without a session of TLS.
    static var connectionByteCount: Int { ownConnectionByteCount + kernelByteCount }

    /// The number of connections that fit into their part of the memory.
    var fittingConnectionCount: Int {
        max(1, memory.connections / Self.connectionByteCount)
    }
}
