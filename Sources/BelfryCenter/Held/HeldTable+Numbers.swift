import BelfryBytes

// Kept notifications, found by their numbers.
//
// | kept | its number | is found by |
// | --- | --- | --- |
// | a notification that was posted | its own: no other one has it | its number |
// | a change of a value | that of the change, for each form of it | its slot |
// | a present value (`initial`, a mark) | borrowed: of the last dispatch or change | its slot |
//
// A search by number is for a posted notification. The store names its rows by numbers, too, and
// has no notifications about values.

extension HeldTable {
    /// The slot, if it still has this notification.
    func again(_ slot: UInt32, _ notification: Notification) -> UInt32? {
        keptNotification(at: slot) == notification ? slot : nil
    }

    /// Whether a slot still has the notification that was posted with this number.
    func isKept(_ slot: UInt32, sequence: UInt64) -> Bool {
        keptNotification(at: slot).map { $0.sequence == sequence && !$0.isOfValue } ?? false
    }

    /// The oldest kept notification whose number is not below this one.
    func firstSlot(from sequence: UInt64) -> UInt32 {
        var first = Self.none
        var slot = newest
        while slot != Self.none, notification(at: slot).sequence >= sequence {  // Bound: kept
            first = slot
            slot = previous(before: slot)
        }
        return first
    }

    /// Moves a slot along the kept notifications to a posted number; returns whether that is kept.
    func goOn(_ slot: inout UInt32, to sequence: UInt64) -> Bool {
        while slot != Self.none, notification(at: slot).sequence <= sequence {  // Bound: start
            if isKept(slot, sequence: sequence) { return true }
            slot = next(after: slot)
        }
        return false
    }
}

extension Notification {
    /// Whether it is about a value: such a number may be shared.
    var isOfValue: Bool {
        let name = NotificationCenter.valueName
        return bytesAreEqual(content.name, name.span)
    }
}
