import BelfryCenter
import BelfryWire

/// A look inside a center: it changes nothing, and makes no center (Protocol.md section 4).
enum Look: Sendable {
    case fate(NotificationID)
    case observer(Secret)
    case listing(CenterListing)
    /// Who asks, and what they may do in the center, which need not be there.
    case caller
}

/// What a center can list, page by page.
enum CenterListing: Sendable {
    indirect case observers(ObserverQuery)
    indirect case responders(ObserverQuery)
    case holders(object: [UInt8])
    indirect case asks(ObserverQuery)
    indirect case values(ObserverQuery)
    indirect case clients(ObserverQuery)
    indirect case channels(ObserverQuery)
    indirect case queue(ObserverQuery)
    case queueEntry(NotificationID)
    case modes
    /// How the center stands.
    case overview
    indirect case explain(ExplainRequest)
    case leaks(cursor: UInt64, limit: Int)
    case unmatched(limit: Int)
}

/// How many rows all looks of a turn may still go through.
///
/// A batch of a thousand calls that look through large tables would otherwise hold up everybody
/// for seconds. Pages may be short anyway, and near misses few.
struct ScanBudget: Equatable {
    /// How many rows all looks of a turn go through, about.
    private var rest = 200_000

    /// How many rows each look goes through at least.
    private static let least = 100

    /// How many rows one more look goes through: half of what is left, and a few always.
    mutating func take(of rowCount: Int) -> Int {
        let share = max(Self.least, rest / 2)
        rest = max(0, rest - min(share, rowCount + Self.least))
        return share
    }
}
