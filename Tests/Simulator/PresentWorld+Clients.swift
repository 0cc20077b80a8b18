import BelfryCenter

// Clients and their observers of values, as far as the world keeps them.
extension PresentWorld {
    struct Client {
        var transport = Transport.webSocket
        var connection: UInt64?
        var isAsked = false
        /// The line has lost a frame, and the ones behind it are not read.
        var isDeaf = false
        /// The highest number that it knows.
        var seen: UInt64 = 0
        /// The observer that listens for it, and the numbers of the posts that it must get.
        var listener: UInt64?
        var owed: Set<UInt64> = []
        /// Those of them that were held when they were posted.
        var held: Set<UInt64> = []

        var isLive: Bool { connection != nil && !isAsked && !isDeaf }

        mutating func see(_ sequence: UInt64) { seen = max(seen, sequence) }
    }

    struct Looker {
        let client: UInt64
        let place: PresentTruth.Place
        let since: UInt64
        /// The value that its frames amount to, once it can know that.
        var value: Int?
        var isKnown = false
        /// The number that it has named when it came back.
        var named: UInt64?
        /// The number that a look into a mailbox names.
        var next: UInt64?
    }
}
