/// How much was done, in requests, about.
struct WorkMeter {
    private(set) var total = 0
    /// What was done since somebody looked how long the turn has taken.
    private var sinceLook = 0

    /// The work of a request that looks through tables, in requests.
    private static let ofLooking = 16
    /// After how many requests it is looked how long the turn has taken.
    private static let betweenLooks = 16
    /// How many deliveries are as much work as a request.
    static let deliveriesOfOne = 16
    /// How many rows that a look goes through are as much work as a request.
    private static let rowsOfOne = 64
    /// After how much work for one read its connection lets others go first.
    static let much = 64

    /// Counts the work of a look through so many rows, or of putting them in order.
    mutating func countLook(through rowCount: Int = 0) {
        let work = Self.ofLooking + rowCount / Self.rowsOfOne
        sinceLook += work
        total &+= work
    }

    /// Counts deliveries.
    mutating func count(deliveries: Int) {
        total &+= deliveries / Self.deliveriesOfOne
    }

    /// Counts a request; tells whether it is time to look how long the turn has taken.
    mutating func countRequest() -> Bool {
        sinceLook += 1
        guard sinceLook >= Self.betweenLooks else { return false }
        sinceLook = 0
        return true
    }
}
