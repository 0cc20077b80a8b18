import BelfryCenter
import BelfryWire

/// A look inside a center: it changes nothing, and makes no center (Protocol.md section 4).
enum Look: Sendable {
    case fate(NotificationID)
    case observer(Secret)
    case listing(CenterListing)
    /// The caller and its grants in the center, which need not exist.
    case caller
}

/// A listing of a center, page by page.
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
    /// The state of the center.
    case overview
    indirect case explain(ExplainRequest)
    case leaks(cursor: UInt64, limit: Int)
    case unmatched(limit: Int)
    indirect case archives(ObserverQuery)
    indirect case archive(ArchiveName)
}

/// The number of rows that the looks of a turn may still scan.
///
/// A batch of a thousand calls that look through large tables would otherwise hold up all clients
/// for seconds. Pages may be short anyway, and near misses few.
struct ScanBudget: Equatable {
    /// The rest of this turn; a turn begins with this number.
    private var rest = 200_000

    /// The least number of rows of each look.
    private static let least = 100

    /// Takes the rows of one more look: half of the rest, and a few always.
    mutating func take(of rowCount: Int) -> Int {
        let share = max(Self.least, rest / 2)
        rest = max(0, rest - min(share, rowCount + Self.least))
        return share
    }
}
