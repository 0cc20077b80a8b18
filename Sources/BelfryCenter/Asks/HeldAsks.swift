/// The division of waiting asks among responders, up to their room, in the order of asking.
///
/// The lists of addresses and selectors are merged by the order of asking, so the work is that of
/// the lists and of the taken asks, however many responders share them.
struct HeldAsks {
    /// A responder that has room.
    struct Taker {
        let slot: UInt32
        let serial: UInt64
    }

    /// An ask, and the observer that is to be shown it.
    struct Taken {
        let slot: UInt32
        let ordinal: UInt64
        let observer: UInt32
    }

    /// The asks that wait at one address with one selector.
    private struct List {
        let asks: [WaitingAsks.Place]
        /// The holders of the selector, in the order of registration; the first has room.
        var takers: ArraySlice<Taker> = []
        var next = 0

        /// The ordinal of the next ask; nil where no responder has room for it.
        var nextOrdinal: Int64? {
            takers.isEmpty || next == asks.count ? nil : Int64(asks[next].ordinal)
        }
    }

    private var lists: [List] = []
    private var places: [[UInt8]: [[UInt8]: Int]] = [:]
    /// The number of asks that each responder may be shown, by serial number.
    private var room: [UInt64: Int] = [:]

    /// Adds a responder that may be shown the waiting asks of its address and a selector.
    mutating func add(
        _ taker: Taker, room: Int, at address: [UInt8], _ selector: [UInt8],
        of asks: borrowing AskTable
    ) {
        let place = places[address]?[selector] ?? lists.count
        if place == lists.count {
            lists.append(List(asks: asks.held(at: address, selector)))
            places[address, default: [:]][selector] = place
        }
        lists[place].takers.append(taker)
        self.room[taker.serial] = room
    }

    /// Divides the waiting asks among the responders.
    ///
    /// An ask whose time is over is not given out: it ends with its deadline, which is due.
    mutating func take(from asks: borrowing AskTable, at now: Int64) -> [Taken] {
        var taken: [Taken] = []
        var heads = DeadlineHeap<Int>()
        for (place, list) in lists.enumerated() {  // Bound: asks
            if let first = list.nextOrdinal { heads.add(at: first, rank: 0, key: place) }
        }
        // loop: each pass takes an ask out of a list, and ends with the room
        while let place = heads.popDue(at: .max) {  // Bound: asks
            let ask = lists[place].asks[lists[place].next]
            lists[place].next += 1
            if asks[ask.slot].endsAt > now,
                let taker = taker(of: asks[ask.slot], among: lists[place].takers)
            {
                taken.append(Taken(slot: ask.slot, ordinal: ask.ordinal, observer: taker.slot))
                room[taker.serial, default: 1] -= 1
            }
            lists[place].takers = lists[place].takers.drop { room[$0.serial] == 0 }
            if let next = lists[place].nextOrdinal { heads.add(at: next, rank: 0, key: place) }
        }
        return taken
    }

    /// The first responder that may be shown an ask; an announced ask is for one alone.
    private func taker(of ask: borrowing OpenAsk, among takers: ArraySlice<Taker>) -> Taker? {
        let only = ask.isTold ? ask.state.observer : nil
        if let only, room[only, default: 0] == 0 { return nil }
        return takers.first {
            (only == nil || only == $0.serial) && room[$0.serial] != 0
                && ask.mayBeShown(to: $0.serial)
        }
    }
}
