internal import CBelfrySystem

/// Unpredictable numbers from the kernel, fetched in blocks (getrandom(2)).
public struct SystemRandom: RandomNumberGenerator {
    private static let poolByteCount = 1024

    private var pool = [UInt8](repeating: 0, count: poolByteCount)
    private var position = poolByteCount

    /// Creates a generator with an empty pool.
    public init() {}

    /// Takes the next eight random bytes as a number.
    public mutating func next() -> UInt64 {
        if pool.count - position < 8 { refill() }
        var value: UInt64 = 0
        for index in position..<position + 8 {
            value = value << 8 | UInt64(pool[index])
            pool[index] = 0
        }
        position += 8
        return value
    }

    /// Takes the next random bytes.
    ///
    /// They are wiped as they leave, so that the pool never holds a secret that was given out.
    public mutating func bytes(count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            if position == pool.count { refill() }
            let part = position..<min(pool.count, position + count - bytes.count)
            bytes.append(contentsOf: pool[part])
            for index in part { pool[index] = 0 }
            position = part.upperBound
        }
        return bytes
    }

    private mutating func refill() {
        // SAFETY: getrandom(2) writes exactly as many bytes as the pool has.
        let outcome = unsafe pool.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return Int32(0) }
            return unsafe belfry_random(base, bytes.count)
        }
        precondition(outcome == 0, "a kernel without getrandom is not supported")
        position = 0
    }
}
