internal import BelfryJSON

/// The place in the past where an observer begins; without one it begins at the present.
///
/// ```
/// let board = try await center.addObserver(forName: "Order", object: nil, since: .lastEach(1))
/// ```
///
/// Notifications of the past come first, marked `isRedelivered`, in the order of their numbers;
/// each live one follows, without a hole between them.
public enum Beginning: Equatable, Sendable {
    /// Behind this sequence number; the observer gets a gap for what the broker no longer has.
    case after(UInt64)
    /// With the first notification at this time or later: RFC 3339, such as `2026-11-22T06:00:00Z`.
    case from(String)
    /// With the oldest that is kept.
    case oldest
    /// With the newest so many that match, 1 to 1,000, of which the oldest comes first.
    case last(Int)
    /// With the newest so many of each name and object that match, 1 to 100.
    case lastEach(Int)

    /// The sequence number behind which it begins, if it is said by one.
    var number: UInt64? {
        switch self {
        case .after(let number): number
        case .from, .oldest, .last, .lastEach: nil
        }
    }

    /// Whether the same words mean at least the same notifications later.
    package var isSteady: Bool {
        switch self {
        case .after, .from, .oldest: true
        case .last, .lastEach: false
        }
    }

    /// The parameter of an event stream.
    var parameter: (name: String, value: String) {
        switch self {
        case .after(let number): ("since", "\(number)")
        case .from(let time): ("since", time)
        case .oldest: ("since", "oldest")
        case .last(let count): ("last", "\(count)")
        case .lastEach(let count): ("lastEach", "\(count)")
        }
    }

    /// Writes the member of a registration.
    func write(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        switch self {
        case .after(let number): writer.member("since", integer: number, into: &bytes)
        case .from(let time): writer.member("since", string: time, into: &bytes)
        case .oldest: writer.member("since", string: "oldest", into: &bytes)
        case .last(let count): writer.member("last", integer: count, into: &bytes)
        case .lastEach(let count): writer.member("lastEach", integer: count, into: &bytes)
        }
    }
}

extension Beginning: ExpressibleByIntegerLiteral {
    /// Begins behind a sequence number.
    public init(integerLiteral value: UInt64) {
        self = .after(value)
    }
}
