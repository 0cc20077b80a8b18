import BelfryCenter
import BelfryLoop

/// The number under which a center knows a connection: loop, encoding, slot and generation.
///
/// The encoding stands in it so that a delivery tells how its frame is encoded, and nobody has to
/// look at the connection. Centers know nothing of it.
struct ConnectionNumber {
    let rawValue: UInt64

    init(loop: Int, connection: ConnectionID, encoding: FrameEncoding = .plain) {
        precondition(
            loop < 127 && connection.index <= Self.indexMask, "a connection number has 64 bits")
        // None is 0, which stands for no connection in centers.
        rawValue =
            UInt64(loop + 1) << 57 | UInt64(encoding.rawValue) << 55
            | UInt64(connection.index) << 32 | UInt64(connection.generation)
    }

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The bits of a slot: 8 million connections for each loop.
    private static let indexMask: UInt32 = 0x7F_FFFF

    var loop: Int { Int(rawValue >> 57) - 1 }

    /// Whether two connections, of whatever loops, take frames of one encoding.
    @inline(__always)
    static func haveSameEncoding(_ one: UInt64, _ other: UInt64) -> Bool {
        (one ^ other) >> 55 & 3 == 0
    }

    var encoding: FrameEncoding {
        FrameEncoding(rawValue: UInt8(truncatingIfNeeded: rawValue >> 55) & 3) ?? .plain
    }

    var connection: ConnectionID {
        ConnectionID(
            index: UInt32(truncatingIfNeeded: rawValue >> 32) & Self.indexMask,
            generation: UInt32(truncatingIfNeeded: rawValue))
    }
}

extension ConnectionNumber {
    /// A connection of this broker, by the name by which a center knows it.
    init(_ name: ConnectionName) { self.init(rawValue: name.number) }
}
