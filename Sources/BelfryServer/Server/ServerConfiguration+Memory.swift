import BelfryCenter
import BelfryLoop
import BelfrySystem

extension ServerConfiguration {
    /// One limit that was lowered.
    struct LoweredLimit: Equatable {
        let kind: MemoryKind
        let byteLimit: Int
    }

    /// No limit is lowered below this.
    static let leastByteLimit = 512 << 10

    /// Lowers each limit of memory to its part of what the process may have (decision 72).
    ///
    /// - Returns: what was lowered; nothing when all fits.
    mutating func fit(to memoryByteCount: Int) -> [LoweredLimit] {
        var lowered: [LoweredLimit] = []
        for kind in MemoryKind.allCases {
            let part = kind.part(of: memoryByteCount)
            let new = max(min(self[keyPath: kind.limit], Self.leastByteLimit), part)
            guard new < self[keyPath: kind.limit] else { continue }
            self[keyPath: kind.limit] = new
            lowered.append(LoweredLimit(kind: kind, byteLimit: new))
        }
        // Texts that are held, queued, asked or due later, and answers, are a part of what they cost.
        heldByteLimit = min(heldByteLimit, memory.held)
        queueByteLimit = min(queueByteLimit, memory.queue)
        askByteLimit = min(askByteLimit, memory.queue)
        timerByteLimit = min(timerByteLimit, memory.queue)
        // A byte of a value costs several.
        valueByteLimit = min(valueByteLimit, memory.queue / 8)
        centerLimits.answerMemoryLimit = min(centerLimits.answerMemoryLimit, memory.fates)
        return lowered
    }

    /// The same with its limits lowered to what the process may have.
    ///
    /// - Parameter memoryByteCount: what the control group allows, unless `--memory-limit` says otherwise.
    public func fitted(to memoryByteCount: Int?) -> ServerConfiguration {
        guard let memoryByteCount = memoryByteLimit ?? memoryByteCount else { return self }
        var fitted = self
        _ = fitted.fit(to: memoryByteCount)
        return fitted
    }

    /// The same with its limits lowered to what the process may have here and now.
    public func fittedToMemory() -> ServerConfiguration { fitted(to: MemoryLimit.current()) }

    /// Tells the memory that the process may have, and the limit of each kind.
    func logMemory(_ memoryByteCount: Int?, in log: ServerLog) {
        let limits = MemoryKind.allCases.map { "\($0.option)=\(self[keyPath: $0.limit])" }
        let memory = (memoryByteLimit ?? memoryByteCount).map { "\($0)" } ?? "unlimited"
        log.write(
            .debug, "memory limits", ("memory", memory),
            ("limits", limits.joined(separator: ",")))
    }

    /// What an open connection costs in the broker's own tables.
    static var ownConnectionByteCount: Int {
        EventLoop.connectionByteCount + MemoryLayout<Connection>.stride
    }

    /// What an open connection costs the kernel: two empty buffers, a file, an inode, an entry of epoll.
    ///
    /// A control group counts it, though it is in no process.
    private static let kernelByteCount = 4 << 10

    /// What an open connection costs in all, without a session of TLS.
    static var connectionByteCount: Int { ownConnectionByteCount + kernelByteCount }

    /// How many connections fit into their share of the memory.
    var fittingConnectionCount: Int {
        max(1, memory.connections / Self.connectionByteCount)
    }
}
