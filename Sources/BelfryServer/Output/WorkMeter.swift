/// The work done, in requests, about.
struct WorkMeter {
    private(set) var total = 0
    /// The work since the time of the turn was last checked.
    private var sinceLook = 0

    /// The work of a request that looks through tables, in requests.
    private static let ofLooking = 16
    /// The number of requests after which the time of the turn is checked.
    private static let betweenLooks = 16
    /// The number of deliveries that are as much work as a request.
    static let deliveriesOfOne = 16
    /// The number of scanned rows that are as much work as a request.
    private static let rowsOfOne = 64
    /// The work of one read after which its connection lets others go first.
    static let much = 64

    /// Counts the work of a look through `rowCount` rows, or of sorting them.
    mutating func countLook(through rowCount: Int = 0) {
        let work = Self.ofLooking + rowCount / Self.rowsOfOne
        sinceLook += work
        total &+= work
    }

    /// Counts deliveries.
    mutating func count(deliveries: Int) {
        total &+= deliveries / Self.deliveriesOfOne
    }

    /// Counts a request; returns whether to check the time of the turn.
    mutating func countRequest() -> Bool {
        sinceLook += 1
        guard sinceLook >= Self.betweenLooks else { return false }
        sinceLook = 0
        return true
    }
}
