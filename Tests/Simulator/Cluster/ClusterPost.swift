import BelfryCenter
import BelfryHistory

/// A post of a program, with all that was tried.
final class ClusterPost {
    let center: [UInt8]
    /// The identifiers of its attempts: a broker makes a new one each time.
    var ids: [NotificationID] = []
    let key: [UInt8]?
    var content = HistoryContent(name: [], object: nil, userInfo: nil)
    var options: PostOptions?
    /// Whether an attempt was answered as accepted.
    var isAnswered = false
    /// The number under which it was dispatched.
    var dispatchedAs: UInt64?
    /// The attempts that came to nothing, as was said.
    var refusedIDs: [NotificationID] = []
    /// The connection that it was posted on, and its place there, if its order counts.
    var line: (ClusterLine, place: Int)?

    init(center: [UInt8], key: [UInt8]?) {
        self.center = center
        self.key = key
    }
}

/// The posts of one connection, which are dispatched in their order.
final class ClusterLine {
    var count = 0
    /// The places that were dispatched, in that order.
    var dispatched: [Int] = []
}
