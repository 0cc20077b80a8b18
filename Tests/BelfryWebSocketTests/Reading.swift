import BelfryWebSocket

/// An event together with the bytes that belong to it.
struct Seen: Equatable {
    var event: WebSocketEvent
    var bytes: [UInt8] = []
}

/// The result of a reader for a whole input: its events, and the error that ended it.
struct Reading: Equatable {
    var seen: [Seen] = []
    var error: WebSocketError?
    var isBetweenMessages = true

    /// Feeds `pieces` one after the other to one reader.
    init(
        _ pieces: [[UInt8]], role: Role, limits: MessageLimits = MessageLimits(),
        inflater: Inflater? = nil
    ) {
        var reader = MessageReader(role: role, limits: limits, inflater: inflater)
        for piece in pieces {
            feed(piece, to: &reader)
        }
        isBetweenMessages = reader.isBetweenMessages
    }

    private mutating func feed(_ piece: [UInt8], to reader: inout MessageReader) {
        var cursor = 0
        do throws(WebSocketError) {
            while let event = try reader.nextEvent(in: piece.span, at: &cursor) {
                switch event {
                case .text, .binary: seen.append(Seen(event: event, bytes: reader.message))
                case .ping, .pong, .close: seen.append(Seen(event: event, bytes: reader.control))
                }
            }
            precondition(cursor == piece.count, "a reader that left bytes behind")
        } catch {
            self.error = error
        }
    }

    /// Reads `bytes` whole, one byte at a time and in random pieces, and returns what all agree on.
    ///
    /// The pieces come from a fixed seed, so a failure repeats itself.
    static func ofAllSplits(
        _ bytes: [UInt8], role: Role = .server, limits: MessageLimits = MessageLimits(),
        inflates: Bool = false
    ) -> Reading? {
        // One inflater serves one reader after the other, also after a fault.
        let inflater = inflates ? Inflater() : nil
        func reading(_ pieces: [[UInt8]]) -> Reading {
            Reading(pieces, role: role, limits: limits, inflater: inflater)
        }
        let whole = reading([bytes])
        guard reading(bytes.map { [$0] }) == whole else { return nil }
        var generator = SplitMix(state: UInt64(bytes.count))
        let longest = max(40, bytes.count / 20)
        for _ in 0..<(bytes.count < 1000 ? 20 : 3) {
            var pieces: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 0...longest, using: &generator))
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            guard reading(pieces) == whole else { return nil }
        }
        return whole
    }
}

/// A small generator whose numbers are the same in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// A frame as one side sends it, also one that the writer would refuse to write.
struct RawFrame {
    var opcode: UInt8
    var payload: [UInt8] = []
    var isFinal = true
    var reserved: UInt8 = 0
    var key: [4 of UInt8]? = [0x37, 0xFA, 0x21, 0x3D]
    /// The length that the header declares; `nil` is the true one in its minimal form.
    var length: [UInt8]?

    var bytes: [UInt8] {
        let declared = length ?? Self.minimal(payload.count)
        var bytes = [opcode | reserved << 4 | (isFinal ? 0x80 : 0)] + declared
        guard let key else { return bytes + payload }
        bytes[1] |= 0x80
        bytes += key.indices.map { key[$0] }
        bytes += payload.indices.map { payload[$0] ^ key[$0 % 4] }
        return bytes
    }

    static func minimal(_ count: Int) -> [UInt8] {
        switch count {
        case ...125: [UInt8(count)]
        case ...0xFFFF: [126, UInt8(count >> 8), UInt8(count & 0xFF)]
        default: [127, 0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(count >> $0 & 0xFF) }
        }
    }
}

func text(_ payload: String, isFinal: Bool = true) -> [UInt8] {
    RawFrame(opcode: 1, payload: Array(payload.utf8), isFinal: isFinal).bytes
}

func frame(_ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true) -> [UInt8] {
    RawFrame(opcode: opcode, payload: payload, isFinal: isFinal).bytes
}
