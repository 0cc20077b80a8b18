import BelfryBytes

/// One kind of notification for one observer, as coalescing under suspension compares it (rule D6).
struct ObservedKind: Hashable, Sendable {
    /// The serial number of the observer.
    let observer: UInt64
    let name: [UInt8]
    let object: [UInt8]?
    /// The hash of both texts: a table asks for the hash of a key several times.
    private let textHash: Int

    init(observer: UInt64, _ content: Notification.Content) {
        var object: [UInt8]?
        if let span = content.object { object = [UInt8](copying: span) }
        self.init(observer: observer, name: [UInt8](copying: content.name), object: object)
    }

    private init(observer: UInt64, name: [UInt8], object: [UInt8]?) {
        self.observer = observer
        self.name = name
        self.object = object
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(object)
        textHash = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(observer)
        hasher.combine(textHash)
    }
}

extension ObservedKind: Footprinted {
    var footprint: Int { name.footprint + (object?.footprint ?? 0) }
}

extension ObservedKind: Comparable {
    /// Orders kinds, where a table of them needs an order.
    static func < (left: ObservedKind, right: ObservedKind) -> Bool {
        if left.observer != right.observer { return left.observer < right.observer }
        if left.name != right.name { return left.name.lexicographicallyPrecedes(right.name) }
        guard let object = right.object else { return false }
        return left.object.map { $0.lexicographicallyPrecedes(object) } ?? true
    }
}

extension ObservedKind: Coded {
    init(_ known: ObservedKind?, by coder: inout some Coder) throws(CodeError) {
        self.init(
            observer: try coder(known?.observer), name: try coder(known?.name),
            object: try coder(known?.object))
    }
}
