// Asks that wait for the first responder on their path (rule R21).

extension AskTable {
    /// Whether an ask waits for the first responder instead of ending with a failure (rule R21).
    ///
    /// One that the last responder has handed on ends.
    func mayWait(_ slot: UInt32, after failure: AskFailure, isHandedOn: Bool) -> Bool {
        guard slots[Int(slot)].options.waitsForAnybody else { return false }
        switch failure {
        case .noResponder, .responderBusy: return true
        case .selectorNotImplemented: return !isHandedOn
        case .responderRefused, .responderGone, .noAnswer: return false
        }
    }

    /// Lets a walking ask wait for the first responder on its path.
    mutating func wait(_ slot: UInt32) {
        slots[Int(slot)].state = .waiting
        slots[Int(slot)].announcement = slots[Int(slot)].isStored ? .none : .stored
        file(slot)
    }

    /// Ends the waiting of an ask for anybody: its path ends at the address of the one that came.
    mutating func endWaiting(_ slot: UInt32, at address: [UInt8]) {
        takeBack(slot)
        let end = slots[Int(slot)].path.firstIndex(of: address) ?? slots[Int(slot)].path.count - 1
        slots[Int(slot)].path.removeSubrange((end + 1)...)
    }

    /// Lets the asks that wait for any responder of an address walk again: its holders are others.
    ///
    /// - Parameter selectors: nil for all; the holders may also hand on to another address now.
    mutating func orphanWaiting(at address: [UInt8], among selectors: [[UInt8]]?) {
        guard waiting.count > 0 else { return }
        for place in waiting.places(at: address, among: selectors)  // Bound: asks
        where self[place.slot].state == .waiting { takeBackAsOrphan(place.slot) }
    }
}
