/// A chain of elements of a table, by their slots.
struct Chain: Sendable {
    /// The number of no slot.
    static let none = UInt32.max

    fileprivate(set) var first = none
    fileprivate(set) var last = none
    fileprivate(set) var count = 0

    /// The neighbours of an element.
    struct Links: Sendable {
        fileprivate(set) var previous = none
        fileprivate(set) var next = none
    }
}

/// A table whose elements are in chains, of which each has a name.
protocol Chained {
    associatedtype ChainName

    /// The neighbours of an element in the chain with a name.
    subscript(links slot: UInt32, name: ChainName) -> Chain.Links { get set }
}

extension Chained {
    /// Puts an element behind another one, or at the beginning behind none.
    @inline(__always)
    mutating func insert(
        _ slot: UInt32, behind previous: UInt32, in chain: inout Chain, _ name: ChainName
    ) {
        let next = previous == Chain.none ? chain.first : self[links: previous, name].next
        self[links: slot, name] = Chain.Links(previous: previous, next: next)
        if previous == Chain.none {
            chain.first = slot
        } else {
            self[links: previous, name].next = slot
        }
        if next == Chain.none {
            chain.last = slot
        } else {
            self[links: next, name].previous = slot
        }
        chain.count += 1
    }

    /// Takes an element out of a chain.
    @inline(__always)
    mutating func remove(_ slot: UInt32, from chain: inout Chain, _ name: ChainName) {
        let own = self[links: slot, name]
        if own.previous == Chain.none {
            chain.first = own.next
        } else {
            self[links: own.previous, name].next = own.next
        }
        if own.next == Chain.none {
            chain.last = own.previous
        } else {
            self[links: own.next, name].previous = own.previous
        }
        self[links: slot, name] = Chain.Links()
        chain.count -= 1
    }

    /// Calls the visitor with each element of a chain in its order.
    func forEach(in chain: Chain, _ name: ChainName, _ visit: (UInt32) -> Void) {
        var slot = chain.first
        while slot != Chain.none {  // Bound: list
            visit(slot)
            slot = self[links: slot, name].next
        }
    }
}
