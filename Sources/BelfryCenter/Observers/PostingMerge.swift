/// Walks through up to four posting lists at once, in rising order of serial.
struct PostingMerge {
    private var lists: [Int]
    private var positions: [Int]

    init(_ buckets: ObserverIndex.Buckets, lists: [PostingList], from serial: UInt64 = 0) {
        let all = [buckets.lists.0, buckets.lists.1, buckets.lists.2, buckets.lists.3]
        self.lists = all.prefix(buckets.count).map { Int($0) }
        positions = self.lists.map { lists[$0].position(from: serial) }
    }

    mutating func next(_ postings: [PostingList]) -> UInt32? {
        var best: Int?
        var bestSerial = UInt64.max
        for index in lists.indices {  // Bound: few
            let list = lists[index]
            while positions[index] < postings[list].entries.count,  // Bound: stale
                postings[list].entries[positions[index]].isDead
            {
                positions[index] += 1
            }
            guard positions[index] < postings[list].entries.count else { continue }
            let serial = postings[list].entries[positions[index]].serial
            if serial < bestSerial {
                bestSerial = serial
                best = index
            }
        }
        guard let best else { return nil }
        defer { positions[best] += 1 }
        return postings[lists[best]].entries[positions[best]].slot
    }
}
