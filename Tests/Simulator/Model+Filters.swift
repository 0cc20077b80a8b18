import BelfryCenter
import BelfryHistory

// The limits of distinct prefixes and conditions: those that some observers share count once.

extension Model {
    /// Whether the center has room for what the filters of new observers have.
    mutating func hasRoom(for registrations: [ObserverRegistration]) -> Bool {
        let new = registrations.compactMap { registration in
            HistoryFilter(registration.role.filter).map { (registration.name, $0) }
        }
        if new.isEmpty { return true }
        let all =
            new
            + observers.compactMap { observer in
                observer.filter.map { (observer.name, $0) }
            }
        let namePrefixes = Set(all.compactMap(\.1.namePrefix))
        let objectPrefixes = Set(all.compactMap(\.1.objectPrefix))
        guard namePrefixes.count + objectPrefixes.count <= limits.prefixLimit else {
            refuse(.prefixesFull(limit: limits.prefixLimit))
            return false
        }
        let conditions = Set(all.flatMap { name, filter in filter.conditions(besides: name) })
        guard conditions.count <= limits.conditionLimit else {
            refuse(.conditionsFull(limit: limits.conditionLimit))
            return false
        }
        return true
    }
}

extension HistoryFilter {
    /// The texts of what the userInfo must say for each of the names, with the grant for that name.
    fileprivate func conditions(besides name: [UInt8]?) -> [[String?]] {
        (names.isEmpty ? [name ?? []] : names).compactMap { name in
            let grant = grants.first { $0.names.isEmpty || $0.names.contains(name) }
            let texts = [condition?.text] + (grant?.alternatives.map { $0.text } ?? [])
            return texts == [nil] ? nil : texts
        }
    }
}
