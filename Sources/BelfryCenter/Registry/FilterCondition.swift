import BelfryBytes
import BelfryJSON

/// A condition as an observer has it: its own, and one of those that its grants demand.
struct FilterCondition: Sendable {
    /// The condition of the registration.
    let own: JSONCondition?
    /// The conditions of the grants; empty for none.
    let alternatives: [JSONCondition]

    /// The condition of some terms for a name; nil where there is none.
    init?(_ terms: FilterTerms, for name: Span<UInt8>) {
        own = terms.condition
        alternatives = terms.alternatives(for: name)
        if own == nil, alternatives.isEmpty { return nil }
    }

    /// The text that only equal conditions have: JSON has no byte 0.
    var key: [UInt8] {
        var key = own?.text ?? []
        for condition in alternatives {  // Bound: terms
            key.append(0)
            key += condition.text
        }
        return key
    }

    /// Whether a userInfo fulfils it; the grants decide first.
    ///
    /// - Parameter work: grows by the bytes of values that were looked through.
    func isTrue(
        for members: borrowing JSONMembers, in userInfo: Span<UInt8>, work: inout Int
    ) -> Bool {
        guard
            alternatives.isEmpty
                || alternatives.oneIsTrue(for: members, in: userInfo, work: &work)
        else { return false }
        return own?.isTrue(for: members, in: userInfo, work: &work) ?? true
    }

    var footprint: Int {
        (own?.footprint ?? 0)
            + Footprint.array(of: alternatives.count, stride: MemoryLayout<JSONCondition>.stride)
            + alternatives.reduce(0) { $0 + $1.footprint }
    }
}

extension [JSONCondition] {
    /// Whether a userInfo fulfils one of the conditions.
    func oneIsTrue(
        for members: borrowing JSONMembers, in userInfo: Span<UInt8>, work: inout Int
    ) -> Bool {
        for condition in self {  // Bound: terms
            if condition.isTrue(for: members, in: userInfo, work: &work) { return true }
        }
        return false
    }
}

extension FilterTerms {
    /// Whether a notification fulfils the terms but for the condition.
    func cover(_ content: Notification.Content) -> Bool {
        if !names.isEmpty, !names.contains(where: { bytesAreEqual($0.span, content.name) }) {
            return false
        }
        if let namePrefix {
            guard content.name.begins(with: namePrefix.span),
                !content.isReserved || namePrefix.count >= FilterTerms.reservedByteCount
            else { return false }
        }
        if let objectPrefix {
            guard let object = content.object, object.begins(with: objectPrefix.span) else {
                return false
            }
        }
        return true
    }
}
