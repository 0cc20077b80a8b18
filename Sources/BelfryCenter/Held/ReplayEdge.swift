/// The edge of the newest notifications that fit into a replay.
struct ReplayEdge: Equatable {
    /// The place before which no notification fits.
    let place: Int
    /// The number of observers, from the first on, for whom the one at the place does not fit.
    private(set) var lostCount: Int

    init(place: Int, lostCount: Int) {
        self.place = place
        self.lostCount = lostCount
    }

    /// The number of an observer's places that do not fit; observers ask in their order.
    mutating func lostCount(of places: [Int]) -> Int {
        let low = places[...].firstPlace(notBelow: place)
        guard lostCount > 0, low < places.count, places[low] == place else { return low }
        lostCount -= 1
        return low + 1
    }
}
