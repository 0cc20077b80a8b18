/// Timers in the order of their due times, then of their making.
///
/// It is a list of sorted pieces: two binary searches find a place, and an insertion moves one
/// piece at most. So the first is known at once, any item can be removed at any time, and a listing
/// begins anywhere.
struct TimerOrder: Footprinted, Sendable {
    /// A timer, and its due time.
    struct Item: Comparable, Sendable {
        /// On the clock of timers, in nanoseconds; `Int64.max` is not known yet.
        let due: Int64
        let ordinal: UInt64
        let slot: UInt32

        static func < (left: Item, right: Item) -> Bool {
            (left.due, left.ordinal) < (right.due, right.ordinal)
        }
    }

    /// The pieces, none of which is empty.
    private var pieces: [[Item]] = []
    private(set) var count = 0

    /// How many items a piece has at most.
    static let pieceLimit = 256

    /// The bytes that the order costs, about: divided pieces have spare room.
    var footprint: Int {
        pieces.count * MemoryLayout<[Item]>.stride + count * MemoryLayout<Item>.stride * 4 / 3
    }

    /// The item that is due first.
    var first: Item? { pieces.first?.first }

    /// Adds an item that is not in the order.
    mutating func insert(_ item: Item) {
        count += 1
        guard let place = piece(of: item) else { return pieces.append([item]) }
        let position = pieces[place].indices.firstPlace { pieces[place][$0] >= item }
        if pieces[place].count < Self.pieceLimit {
            pieces[place].insert(item, at: position)
        } else if place == pieces.count - 1, position == Self.pieceLimit {
            // Items that are added in order leave full pieces behind.
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

    /// Removes an item that is in the order.
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

    /// Joins small neighbours into one piece, so that pieces are few.
    private mutating func unite(_ place: Int) {
        let sum = pieces[place].count + pieces[place + 1].count
        guard sum <= Self.pieceLimit / 4 else { return }
        pieces[place] += pieces[place + 1]
        pieces.remove(at: place + 1)
    }

    /// The piece that an item belongs to; nil where there is none.
    private func piece(of item: Item) -> Int? {
        if pieces.isEmpty { return nil }
        let behind = pieces.indices.firstPlace { pieces[$0][0] > item }
        return max(0, behind - 1)
    }

    /// Calls the visitor with each item from a position on, while it returns true.
    ///
    /// - Complexity: Linear in the pieces that are passed over, and in the visited items.
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
