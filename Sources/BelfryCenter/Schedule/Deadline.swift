/// An event that is due at a time.
enum Deadline: Sendable {
    /// Observers of a disconnected client may have outlived it for long enough.
    case lease(client: UInt64, at: Int64)
    /// A held notification expires.
    case expiry(sequence: UInt64, kept: UInt32)
    /// The interval of a held notification of a client is over.
    case pace(client: UInt64)
    /// A poster has waited for long enough.
    case wait(slot: UInt32, ordinal: UInt64)
    /// The time of an ask is over.
    case ask(slot: UInt32, ordinal: UInt64)
    /// The asker has waited for long enough, and gets a 202.
    case asked(slot: UInt32, ordinal: UInt64)

    /// The time of a place of a value is over.
    case part(slot: UInt32, ordinal: UInt64)

    /// The order of events that are due at one time.
    var rank: UInt64 {
        switch self {
        case .lease(let client, _): client
        case .expiry(let sequence, _): 1 << 62 | sequence
        case .pace(let client): 2 << 62 | client
        case .wait(_, let ordinal): 3 << 62 | ordinal
        case .ask(_, let ordinal): 3 << 62 | 1 << 61 | ordinal
        case .asked(_, let ordinal): 3 << 62 | 3 << 60 | ordinal
        case .part(_, let ordinal): 3 << 62 | 1 << 60 | ordinal
        }
    }
}

extension Deadline: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .lease(let client, let time): try coder.write(case: 0, client, time)
        case .expiry(let sequence, let kept): try coder.write(case: 1, sequence, kept)
        case .pace(let client): try coder.write(case: 2, client)
        case .wait(let slot, let ordinal): try coder.write(case: 3, slot, ordinal)
        case .ask(let slot, let ordinal): try coder.write(case: 4, slot, ordinal)
        case .asked(let slot, let ordinal): try coder.write(case: 5, slot, ordinal)
        case .part(let slot, let ordinal): try coder.write(case: 6, slot, ordinal)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> Deadline {
        switch number {
        case 0: .lease(client: try coder.next(), at: try coder.next())
        case 1: .expiry(sequence: try coder.next(), kept: try coder.next())
        case 2: .pace(client: try coder.next())
        case 3: .wait(slot: try coder.next(), ordinal: try coder.next())
        case 4: .ask(slot: try coder.next(), ordinal: try coder.next())
        case 5: .asked(slot: try coder.next(), ordinal: try coder.next())
        case 6: .part(slot: try coder.next(), ordinal: try coder.next())
        default: throw .malformed
        }
    }
}
