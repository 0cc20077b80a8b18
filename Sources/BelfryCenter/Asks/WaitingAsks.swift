/// The indexes of waiting asks: by address and selector, and by the observer they wait for.
struct WaitingAsks: Sendable {
    /// An ask that waits.
    ///
    /// An ask that was shown before returns to its place in the order of asking.
    struct Place: Sendable {
        let slot: UInt32
        let ordinal: UInt64
    }

    /// By address and selector, in the order of asking; no list is empty.
    private var addresses: [[UInt8]: [[UInt8]: [Place]]] = [:]
    /// By the observer that they wait for, in the order of asking; no list is empty.
    private var observers: [UInt64: [Place]] = [:]
    /// The number of asks that wait.
    private(set) var count = 0

    /// The bytes of an ask here that shares neither address, selector nor observer.
    static let placeByteCount =
        2 * Footprint.array(of: 1, stride: MemoryLayout<Place>.stride)
        + 3 * Footprint.dictionary(capacity: 3, stride: 2 * MemoryLayout<[UInt8]>.stride)

    /// Adds an ask that waits at some addresses, for an observer or for any.
    mutating func add(
        _ place: Place, at places: ArraySlice<[UInt8]>, _ selector: [UInt8], for observer: UInt64?
    ) {
        for address in places {  // Bound: hops
            addresses[address, default: [:]][selector, default: []].insert(place)
        }
        if let observer { observers[observer, default: []].insert(place) }
        count += 1
    }

    /// Removes an ask that no longer waits.
    mutating func remove(
        _ place: Place, at places: ArraySlice<[UInt8]>, _ selector: [UInt8], for observer: UInt64?
    ) {
        for address in places {  // Bound: hops
            addresses.withdraw(address) { $0.withdraw(selector) { $0.remove(place) } }
        }
        if let observer { observers.withdraw(observer) { $0.remove(place) } }
        count -= 1
    }

    /// The asks that wait for an observer.
    func of(_ observer: UInt64) -> [UInt32] { observers[observer]?.map(\.slot) ?? [] }

    /// The selectors of the asks that wait at an address, as far as they are among some.
    func selectors(at address: [UInt8], among implemented: [[UInt8]]) -> [[UInt8]] {
        guard let lists = addresses[address] else { return [] }
        return implemented.filter { lists[$0] != nil }
    }

    /// The asks that wait at an address with one of some selectors; nil for all.
    func places(at address: [UInt8], among selectors: [[UInt8]]?) -> [Place] {
        guard let lists = addresses[address] else { return [] }
        guard let selectors else { return lists.values.flatMap { $0 } }
        return selectors.flatMap { lists[$0] ?? [] }
    }

    /// The asks that wait at an address with a selector, in the order of asking.
    func at(_ address: [UInt8], _ selector: [UInt8]) -> [Place] {
        addresses[address]?[selector] ?? []
    }
}

extension [WaitingAsks.Place] {
    fileprivate mutating func insert(_ place: Element) {
        insert(place, at: indices.firstPlace { self[$0].ordinal > place.ordinal })
    }

    fileprivate mutating func remove(_ place: Element) {
        let index = indices.firstPlace { self[$0].ordinal >= place.ordinal }
        if index < count, self[index].ordinal == place.ordinal { remove(at: index) }
    }
}

extension Dictionary where Value: Collection {
    /// Changes a list or a table, and removes it when it becomes empty.
    fileprivate mutating func withdraw(_ key: Key, _ change: (inout Value) -> Void) {
        guard let place = index(forKey: key) else { return }
        change(&values[place])
        if values[place].isEmpty { remove(at: place) }
    }
}
