/// Where the newest of what was found begin that there is room for.
struct ReplayEdge: Equatable {
    /// What lies before this place finds no room.
    let place: Int
    /// For how many observers, from the first on, the notification at the place itself finds none.
    private(set) var lostCount: Int

    init(place: Int, lostCount: Int) {
        self.place = place
        self.lostCount = lostCount
    }

    /// How many of the places of one observer find no room; observers ask in their order.
    mutating func lostCount(of places: [Int]) -> Int {
        let low = places[...].firstPlace(notBelow: place)
        guard lostCount > 0, low < places.count, places[low] == place else { return low }
        lostCount -= 1
        return low + 1
    }
}
