extension ServerConfiguration {
    /// One limit that was lowered.
    struct LoweredLimit: Equatable {
        /// The option that sets it.
        let option: String
        let byteLimit: Int
    }

    /// No limit is lowered below this.
    static let leastByteLimit = 1 << 20

    /// Lowers the byte limits of the whole broker, all by the same factor, until together they are half
    /// of the memory that the process may have (DESIGN section 6).
    ///
    /// The other half is for what they do not count: tables, buffers that grow by doubling, the
    /// store, and the program itself.
    ///
    /// - Returns: what was lowered, in the order of the documentation; nothing when all fits.
    mutating func fit(to memoryByteCount: Int) -> [LoweredLimit] {
        let limits: [(option: String, path: WritableKeyPath<ServerConfiguration, Int>)] = [
            ("queue-limit", \.queueByteLimit), ("hold-limit", \.heldByteLimit),
            ("unsent-limit", \.unsentByteLimit), ("unfinished-limit", \.unfinishedByteLimit),
        ]
        let sum = limits.reduce(0.0) { $0 + Double(self[keyPath: $1.path]) }
        let factor = Double(max(0, memoryByteCount)) / 2 / max(sum, 1)
        guard factor < 1 else { return [] }
        var lowered: [LoweredLimit] = []
        for limit in limits {
            let old = self[keyPath: limit.path]
            let new = max(min(old, Self.leastByteLimit), Int(Double(old) * factor))
            guard new < old else { continue }
            self[keyPath: limit.path] = new
            lowered.append(LoweredLimit(option: limit.option, byteLimit: new))
        }
        return lowered
    }

    /// The same with its limits lowered to what the process may have, which the log tells.
    func fitted(to memoryByteCount: Int?, log: ServerLog) -> ServerConfiguration {
        guard let memoryByteCount else { return self }
        var fitted = self
        let lowered = fitted.fit(to: memoryByteCount)
        guard !lowered.isEmpty else { return self }
        let list = lowered.map { "\($0.option)=\($0.byteLimit)" }.joined(separator: ",")
        log.write(
            .info, "limits are lowered to fit the memory of the control group",
            ("memory", "\(memoryByteCount)"), ("limits", list))
        return fitted
    }
}
