public import BelfryCenter

/// The fields of a post that enters the queue later, as they come; nil for absent ones.
struct TimerFields {
    var after: Int64?
    var at: Int64?
    var period: Int64?
    var lease: Lease?
    var replaces = false
    var isFarewell = false

    /// How long a repeating timer lasts.
    enum Lease: Equatable {
        case nanoseconds(Int64)
        case forever

        /// Reads what a query has, in which null is a word.
        init?(text: [UInt8]) {
            if text.elementsEqual("null".utf8) {
                self = .forever
            } else if let nanoseconds = SecondsRule.timerLease.nanoseconds(ofText: text) {
                self = .nanoseconds(nanoseconds)
            } else {
                return nil
            }
        }

        static let detail = SecondsRule.timerLease.detail + ", or null"
    }

    /// Whether they make the post a timer.
    var isGiven: Bool {
        after != nil || at != nil || period != nil || lease != nil || replaces || isFarewell
    }

    /// How long a repeating timer lasts that does not say it.
    private static let defaultLease: Int64 = 86_400_000_000_000

    /// The terms of the timer.
    var terms: TimerTerms {
        let lasts: Int64? =
            switch lease {
            case .nanoseconds(let nanoseconds): nanoseconds
            case .forever: nil
            case nil: Self.defaultLease
            }
        return TimerTerms(
            start: after.map { .after($0) } ?? at.map { .at($0) }, period: period,
            lease: period == nil ? nil : lasts, replaces: replaces, isFarewell: isFarewell)
    }

    /// Reports each field that does not go with the others.
    func forEachMisfit(_ style: PostingStyle?, _ tell: (PostOptionFields.Key, String) -> Void) {
        if style == .now {
            let detail = "requires the style asap or idle"
            if after != nil { tell(.after, detail) }
            if at != nil { tell(.at, detail) }
            if period != nil { tell(.every, detail) }
            if replaces { tell(.replaces, detail) }
            if isFarewell { tell(.onDisconnect, detail) }
        }
        if after != nil, at != nil { tell(.at, "cannot be combined with after") }
        if lease != nil, period == nil { tell(.lease, "requires the field every") }
        if isFarewell {
            if at != nil { tell(.at, "cannot be combined with onDisconnect") }
            if period != nil { tell(.every, "cannot be combined with onDisconnect") }
        }
    }

    /// The fault of a post with `onDisconnect` from a client without a connection.
    static let farewellDetail =
        "works over a WebSocket only: it waits for the end of the connection"
}

extension PostOptions {
    /// Whether it is a timer that would repeat for ever, which needs the grant `forever`.
    public var asksForever: Bool { timer?.repeatsForever ?? false }
}
