/// Whether one observer gets what each lane posted: all of it, once, and in its order.
struct SequenceCheck: Equatable, Sendable {
    /// How many came.
    private(set) var received = 0
    /// How many came twice.
    private(set) var repeated = 0
    /// How many came behind a later one of their lane.
    private(set) var misordered = 0
    private var lanes: [Lane]

    /// The numbers that came of one lane.
    private struct Lane: Equatable, Sendable {
        /// Every number below has come.
        var next = 0
        /// Numbers above that have come.
        var ahead: Set<Int> = []
        var greatest = -1
    }

    /// Makes lanes from 0 to this number.
    init(laneCount: Int) {
        lanes = Array(repeating: Lane(), count: laneCount)
    }

    /// Notes a number of a lane; one of no lane is not ours.
    mutating func note(lane index: Int, _ number: Int) {
        guard lanes.indices.contains(index), number >= 0 else { return }
        let lane = lanes[index]
        if number < lane.next || lane.ahead.contains(number) {
            repeated += 1
            return
        }
        received += 1
        if number < lane.greatest { misordered += 1 }
        lanes[index].greatest = max(lane.greatest, number)
        guard number == lane.next else {
            lanes[index].ahead.insert(number)
            return
        }
        lanes[index].next += 1
        while lanes[index].ahead.remove(lanes[index].next) != nil { lanes[index].next += 1 }
    }

    /// How many of these have not come, by lane: each posted the numbers below its count.
    func missing(of counts: [Int]) -> Int {
        zip(lanes, counts).reduce(0) { sum, pair in
            let (lane, count) = pair
            return sum + max(0, count - lane.next - lane.ahead.count)
        }
    }
}
