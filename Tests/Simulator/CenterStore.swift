import BelfryCenter
import BelfryStore

/// The store in memory, with the one center of a simulation in it.
struct CenterStore {
    private var store = MemoryStore()
    private let name: [UInt8]

    init(name: [UInt8]) { self.name = name }

    /// Commits the changes of one turn; each must make sense after those before it.
    mutating func commit(_ changes: [Change]) throws(Violation) {
        do throws(StoreError) {
            try store.commit(changes.map { .center(name: name, $0) })
        } catch {
            throw Violation("the store fails: \(error)")
        }
    }

    /// The next life begins; tells what it begins with, unless the center was never stored.
    mutating func restart(isComplete: Bool) throws(Violation) -> CenterImage? {
        do throws(StoreError) {
            if isComplete { try store.commit([.cleanEnd]) }
            store.restart()
            return try store.load().centers.first
        } catch {
            throw Violation("the store fails: \(error)")
        }
    }
}
