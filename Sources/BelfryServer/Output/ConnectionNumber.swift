import BelfryCenter
import BelfryLoop

/// The number of a connection for centers: loop, encoding, slot and generation.
///
/// It contains the encoding so that a delivery says how its frame is encoded, without a look at the
/// connection. Centers do not interpret it.
struct ConnectionNumber {
    let rawValue: UInt64

    init(loop: Int, connection: ConnectionID, encoding: FrameEncoding = .plain) {
        precondition(
            loop < 127 && connection.index <= Self.indexMask, "a connection number has 64 bits")
        // None is 0, which means no connection in centers.
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

    /// Whether two connections, of any loops, take frames of one encoding.
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
    /// A connection of this broker, by its name for centers.
    init(_ name: ConnectionName) { self.init(rawValue: name.number) }
}
