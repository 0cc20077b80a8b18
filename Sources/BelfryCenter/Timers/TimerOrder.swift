/// Timers in the order in which they are due, those of one time in the order of their making.
///
/// It is a row of sorted pieces: a place is found by two binary searches, and what moves is one piece at most. So the
/// first is known at once, any can be taken out when it is over, and a listing begins anywhere.
struct TimerOrder: Footprinted, Sendable {
    /// A timer, and when it is due.
    struct Item: Comparable, Sendable {
        /// On the clock of timers, in nanoseconds; `Int64.max` is not known yet.
        let due: Int64
        let ordinal: UInt64
        let slot: UInt32

        static func < (left: Item, right: Item) -> Bool {
            (left.due, left.ordinal) < (right.due, right.ordinal)
        }
    }

    /// None is empty.
    private var pieces: [[Item]] = []
    private(set) var count = 0

    /// How many items a piece has at most.
    static let pieceLimit = 256

    /// The bytes that the order costs, about: pieces that were divided have room.
    var footprint: Int {
        pieces.count * MemoryLayout<[Item]>.stride + count * MemoryLayout<Item>.stride * 4 / 3
    }

    /// What is due first.
    var first: Item? { pieces.first?.first }

    /// Adds an item that is not there.
    mutating func insert(_ item: Item) {
        count += 1
        guard let place = piece(of: item) else { return pieces.append([item]) }
        let position = pieces[place].indices.firstPlace { pieces[place][$0] >= item }
        if pieces[place].count < Self.pieceLimit {
            pieces[place].insert(item, at: position)
        } else if place == pieces.count - 1, position == Self.pieceLimit {
            // What comes in order leaves full pieces behind.
            pieces.append([item])
        } else {
            divide(place)
            let half = pieces[place].count
            let isLate = position > half
            pieces[isLate ? place + 1 : place].insert(item, at: isLate ? position - half : position)
        }
    }

    private mutating func divide(_ place: Int) {
        let half = pieces[place].count / 2
        let rest = Array(pieces[place][half...])
        pieces[place].removeSubrange(half...)
        pieces.insert(rest, at: place + 1)
    }

    /// Takes out an item that is there.
    mutating func remove(_ item: Item) {
        guard let place = piece(of: item) else { return }
        let position = pieces[place].indices.firstPlace { pieces[place][$0] >= item }
        guard position < pieces[place].count, pieces[place][position] == item else {
            preconditionFailure("an item that is removed must be there")
        }
        count -= 1
        pieces[place].remove(at: position)
        if pieces[place].isEmpty {
            pieces.remove(at: place)
        } else if place + 1 < pieces.count {
            unite(place)
        }
        // A table that was large once gives its storage back.
        if count == 0 { pieces = [] }
    }

    /// Small neighbours become one piece, so that pieces are few.
    private mutating func unite(_ place: Int) {
        let sum = pieces[place].count + pieces[place + 1].count
        guard sum <= Self.pieceLimit / 4 else { return }
        pieces[place] += pieces[place + 1]
        pieces.remove(at: place + 1)
    }

    /// The piece that an item belongs into; nil where there is none.
    private func piece(of item: Item) -> Int? {
        if pieces.isEmpty { return nil }
        let behind = pieces.indices.firstPlace { pieces[$0][0] > item }
        return max(0, behind - 1)
    }

    /// Calls the visitor with each item from a position on, for as long as it answers yes.
    ///
    /// - Complexity: linear in the pieces that are passed over, and in what is visited.
    func forEach(from start: Int = 0, while visit: (Item) -> Bool) {
        var left = start
        for piece in pieces {  // Bound: timers
            guard left < piece.count else {
                left -= piece.count
                continue
            }
            for item in piece[left...] where !visit(item) { return }  // Bound: timers
            left = 0
        }
    }
}

extension TimerOrder.Item: Coded {
    init(_ known: TimerOrder.Item?, by coder: inout some Coder) throws(CodeError) {
        due = try coder(known?.due)
        ordinal = try coder(known?.ordinal)
        slot = try coder(known?.slot)
    }
}

extension TimerOrder: Coded {
    init(_ known: TimerOrder?, by coder: inout some Coder) throws(CodeError) {
        pieces = try coder(known?.pieces)
        count = try coder(known?.count)
    }
}
