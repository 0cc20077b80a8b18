internal import BelfrySystem

/// All that a loop keeps for one connection: at most 128 bytes, and no memory elsewhere while it is
/// idle.
struct ConnectionSlot {
    struct Flags: OptionSet {
        let rawValue: UInt32

        static let open = Flags(rawValue: 1 << 0)
        /// The attempt to connect is not over.
        static let connecting = Flags(rawValue: 1 << 1)
        /// The caller wants no input for now.
        static let paused = Flags(rawValue: 1 << 2)
        /// The peer has ended its output.
        static let inputEnded = Flags(rawValue: 1 << 3)
        /// In the list of what the next flush looks at.
        static let dirty = Flags(rawValue: 1 << 4)
        /// Some output of this turn is an answer.
        static let hasAnswer = Flags(rawValue: 1 << 5)
        /// The kernel has told that there is room for unsent bytes.
        static let writable = Flags(rawValue: 1 << 6)
        /// Over the high-water mark, and not drained yet.
        static let overHighWater = Flags(rawValue: 1 << 7)
        /// To be closed when everything is flushed.
        static let closing = Flags(rawValue: 1 << 8)
        /// To wait for the peer's end before it is closed.
        static let lingering = Flags(rawValue: 1 << 9)
        /// The output is shut down.
        static let outputEnded = Flags(rawValue: 1 << 10)
        /// The deadline has passed and its event is not handed out yet.
        static let deadlineDue = Flags(rawValue: 1 << 11)
        /// Past the connection limit.
        static let refused = Flags(rawValue: 1 << 12)
        /// Nothing may be written for now.
        static let corked = Flags(rawValue: 1 << 13)
        /// The caller wants to be told when few bytes are unsent.
        static let drainWanted = Flags(rawValue: 1 << 14)
        /// Its ranges of this turn lie in the arena of frames.
        static let hasFrames = Flags(rawValue: 1 << 15)
        /// Its output goes through the filter of the loop.
        static let filtered = Flags(rawValue: 1 << 16)
        /// In the line of connections that send much, to be read when its turn comes.
        static let linedUp = Flags(rawValue: 1 << 17)
        /// Some output of this turn is urgent.
        static let isUrgent = Flags(rawValue: 1 << 18)
        /// Its answer came amid a flush: it leaves after the turn's deliveries for others.
        static let answersLater = Flags(rawValue: 1 << 19)
        /// The caller was told, in this pause, that the peer sends no more.
        static let endTold = Flags(rawValue: 1 << 20)
    }

    var socket = Socket(rawValue: -1)
    var generation: UInt32 = 0
    var interest: Readiness = []
    var flags: Flags = []
    /// How many small reads it takes until the connection is no longer one that sends much.
    var busyReadCount: UInt8 = 0
    /// The bytes that were read and thrown away while closing.
    var discardedByteCount = 0
    /// This turn's range of an arena, while it is only one.
    var rangeStart = 0
    var rangeEnd = 0
    /// This turn's ranges, as soon as there are two that are not adjacent.
    var ranges: [Range<Int>] = []
    /// The bytes of this turn's ranges; `tooMuch` once they are more than a connection may have.
    var turnByteCount = 0
    /// The bytes that a full socket did not take, or a cork keeps back, from `unsentStart` on.
    var unsent: [UInt8] = []
    var unsentStart = 0
    /// Where in `unsent` that begins which a cork keeps back, and which no filter has sealed.
    var corkStart = 0
    var deadline = MonotonicTime.distantFuture
    var peer: SocketAddress

    init(peer: SocketAddress) {
        self.peer = peer
    }

    /// In the place of a count: all output of the turn is dropped, and the connection is closed.
    static let tooMuch = Int.max / 2

    /// Whether anything was sent to it in this turn.
    @inline(__always)
    var hasRanges: Bool { rangeStart != rangeEnd || !ranges.isEmpty }

    @inline(__always)
    var unsentByteCount: Int {
        unsent.count - unsentStart
    }

    /// The interest of epoll in a connection with these flags.
    @inline(__always)
    static func wantedInterest(_ flags: Flags, hasUnsent: Bool) -> Readiness {
        if flags.contains(.connecting) { return .writable }
        var wanted: Readiness = []
        if flags.isDisjoint(with: [.paused, .inputEnded]) {
            wanted.insert(.readable)
        } else if flags.isDisjoint(with: [.inputEnded, .endTold, .closing]) {
            wanted.insert(.ending)
        }
        if hasUnsent, !flags.contains(.corked) { wanted.insert(.writable) }
        return wanted
    }

    /// Adds a range of its arena, and tells whether the connection was clean before.
    mutating func add(_ range: Range<Int>, _ kind: OutputKind) -> Bool {
        if !ranges.isEmpty {
            let last = ranges.count - 1
            if ranges[last].upperBound == range.lowerBound {
                ranges[last] = ranges[last].lowerBound..<range.upperBound
            } else {
                ranges.append(range)
            }
        } else if rangeStart == rangeEnd {
            rangeStart = range.lowerBound
            rangeEnd = range.upperBound
        } else if rangeEnd == range.lowerBound {
            rangeEnd = range.upperBound
        } else {
            ranges.append(rangeStart..<rangeEnd)
            ranges.append(range)
        }
        switch kind {
        case .delivery: break
        case .urgent: flags.insert(.isUrgent)
        case .answer: flags.insert(.hasAnswer)
        }
        return !flags.contains(.dirty)
    }

    /// The result of adding frames.
    enum Addition {
        /// The frames follow others of this turn for the connection.
        case extended
        /// The frames are the first of this turn for the connection.
        case begun
        /// Nothing was added: it is closed, gets something else besides, or too much.
        case unusual
    }

    /// Adds a range of the arena of frames where nothing has to be thought of.
    @inline(__always)
    mutating func addFrames(_ range: Range<Int>, byteLimit: Int) -> Addition {
        let byteCount = turnByteCount &+ range.count
        guard byteCount <= byteLimit &- unsentByteCount else { return .unusual }
        let state = flags.intersection([.open, .closing, .dirty, .hasFrames])
        if state == [.open, .dirty, .hasFrames] {
            guard rangeEnd == range.lowerBound, ranges.isEmpty else { return .unusual }
            rangeEnd = range.upperBound
            turnByteCount = byteCount
            return .extended
        }
        guard state == .open else { return .unusual }
        rangeStart = range.lowerBound
        rangeEnd = range.upperBound
        turnByteCount = byteCount
        flags.formUnion([.dirty, .hasFrames])
        return .begun
    }

    /// Keeps all of this turn's ranges but their first bytes, which the socket took.
    mutating func keep(_ ranges: [Range<Int>], of output: [UInt8], after writtenByteCount: Int) {
        var left = writtenByteCount
        for range in ranges {
            let taken = min(left, range.count)
            left -= taken
            if taken < range.count {
                unsent.append(contentsOf: output[(range.lowerBound + taken)..<range.upperBound])
            }
        }
    }

    /// Forgets this turn's ranges.
    mutating func dropRanges() {
        ranges = []
        rangeEnd = rangeStart
    }

    /// Takes the bytes that a cork keeps back.
    mutating func takeWithheld() -> [UInt8] {
        let withheld = Array(unsent[corkStart...])
        unsent.removeLast(withheld.count)
        return withheld
    }

    /// Forgets the first unsent bytes, and the buffer with the last of them.
    mutating func dropUnsent(_ byteCount: Int) {
        unsentStart += byteCount
        if unsentStart == unsent.count {
            unsent = []
            unsentStart = 0
        } else if unsentStart > unsent.count / 2 {
            unsent.removeFirst(unsentStart)
            unsentStart = 0
        }
    }
}

extension EventLoop {
    /// The bytes that an idle connection costs in the loop.
    public static var connectionByteCount: Int { MemoryLayout<ConnectionSlot>.stride }
}
