/// The finer part of a filter: a set of names, prefixes, and what the userInfo must say.
///
/// It is written from the rules P1 to P9 and W1 to W11, in the plainest words.
package struct HistoryFilter: Equatable, Sendable {
    /// A grant whose conditions the observer is under for some names, or for all.
    package struct Grant: Equatable, Sendable {
        package var names: [[UInt8]]
        package var alternatives: [HistoryCondition]

        package init(names: [[UInt8]], alternatives: [HistoryCondition]) {
            self.names = names
            self.alternatives = alternatives
        }
    }

    package var names: [[UInt8]] = []
    package var namePrefix: [UInt8]?
    package var objectPrefix: [UInt8]?
    package var condition: HistoryCondition?
    package var grants: [Grant] = []

    package init() {}

    package var isEmpty: Bool { self == HistoryFilter() }

    /// Whether an observer has all that a removal asks for; a set has no order (rules O3 and P6).
    package func isPart(of other: HistoryFilter?) -> Bool {
        guard let other else { return isEmpty }
        if !names.isEmpty {
            guard names.count == other.names.count, names.allSatisfy(other.names.contains) else {
                return false
            }
        }
        return (namePrefix == nil || namePrefix == other.namePrefix)
            && (objectPrefix == nil || objectPrefix == other.objectPrefix)
            && (condition == nil || condition == other.condition)
    }

    /// Whether it names a channel, or has a prefix of it: such ones hear of the broker (rule P4).
    package func names(channel: [UInt8]) -> Bool {
        if names.contains(channel) { return true }
        guard let namePrefix, channel.starts(with: namePrefix) else { return false }
        return !channel.starts(with: reserved) || namePrefix.starts(with: reserved)
    }

    /// Whether the userInfo is what the observer asks for, and what its grants allow.
    fileprivate func isTrue(of content: HistoryContent) -> Bool {
        let values = HistoryValues(content.userInfo)
        if let condition, !condition.isTrue(of: values) { return false }
        let grant = grants.first { $0.names.isEmpty || $0.names.contains(content.name) }
        return grant?.alternatives.contains { $0.isTrue(of: values) } ?? true
    }
}

private let reserved = Array("belfry.".utf8)

extension HistoryContent {
    /// Whether it matches a whole filter (rules C2, C3, P1, P2, P4, P9 and W1).
    package func matches(name: [UInt8]?, object: [UInt8]?, _ filter: HistoryFilter?) -> Bool {
        if let name {
            guard name == self.name else { return false }
        } else if let filter, !filter.names.isEmpty || filter.namePrefix != nil {
            guard filter.names(channel: self.name) else { return false }
        } else if self.name.starts(with: reserved) {
            // What the broker tells of itself is for those that name it.
            return false
        }
        if let object, object != self.object { return false }
        guard let filter else { return true }
        if let prefix = filter.objectPrefix {
            guard let object = self.object, object.starts(with: prefix) else { return false }
        }
        return filter.isTrue(of: self)
    }
}
