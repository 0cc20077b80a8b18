import BelfryCenter
import BelfryHistory

// The words of the center in those of a history.

extension HistoryContent {
    init(_ content: Notification.Content) {
        self.init(
            name: content.nameBytes, object: content.objectBytes, userInfo: content.userInfoBytes)
    }
}

extension HistoryReceipt {
    init(_ receipt: Receipt, _ text: (NotificationID) -> [UInt8]) {
        self.init(id: text(receipt.id), sequence: receipt.sequence)
        switch receipt.state {
        case .posted: state = .posted
        case .queued, .timed: state = .queued
        case .coalesced(let into): state = .coalesced(into: text(into))
        case .dequeued: state = .dequeued
        case .expired: state = .expired
        }
        matched = Int(receipt.matched)
        delivered = Int(receipt.delivered)
        held = Int(receipt.held)
        coalesced = Int(receipt.coalesced)
        dropped = Int(receipt.dropped)
        acknowledged = Int(receipt.acknowledged)
        refused = Int(receipt.refused)
        pending = Int(receipt.pending)
        dequeued = Int(receipt.dequeued)
    }
}

extension HistoryObserver.Behavior {
    init(_ behavior: SuspensionBehavior) {
        switch behavior {
        case .drop: self = .drop
        case .coalesce: self = .coalesce
        case .hold: self = .hold
        case .deliverImmediately: self = .deliverImmediately
        }
    }
}

extension HistoryGap.Reason {
    init(_ reason: Gap.Reason) {
        switch reason {
        case .dropped: self = .dropped
        case .coalesced: self = .coalesced
        case .overflow: self = .overflow
        case .expired: self = .expired
        case .unknown: self = .unknown
        }
    }

    /// The reason as a gap frame names it.
    init?(_ text: String) {
        guard let reason = Gap.Reason.allCases.first(where: { "\($0)" == text }) else { return nil }
        self.init(reason)
    }
}
