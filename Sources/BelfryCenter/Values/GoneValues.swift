/// The objects whose values were removed lately, each with the number of that.
struct GoneValues: Sendable {
    fileprivate struct Gone: Sendable {
        let object: [UInt8]
        let sequence: UInt64
    }

    /// How many objects are known.
    static let limit = 64

    /// The one that has gone first stands first.
    private var gone: [Gone] = []
    /// No other object has lost its value above this number.
    private var floor: UInt64 = 0

    /// The value of an object is gone, with the highest number.
    mutating func note(_ object: [UInt8], at sequence: UInt64) {
        gone.removeAll { $0.object == object }
        if gone.count == Self.limit { floor = gone.removeFirst().sequence }
        gone.append(Gone(object: object, sequence: sequence))
    }

    /// Forgets which values are gone, up to a number.
    mutating func forget(through sequence: UInt64) {
        gone = []
        floor = sequence
    }

    /// The number with which an object that has no value may have lost one.
    func last(of object: [UInt8]) -> UInt64 {
        gone.last { $0.object == object }?.sequence ?? floor
    }

    /// Adds all of it to a digest.
    func addDigest(to digest: inout StateDigest) {
        digest.add(floor)
        digest.add(gone.count)
        for gone in gone {
            digest.add(gone.object)
            digest.add(gone.sequence)
        }
    }
}

extension GoneValues.Gone: Coded {
    init(_ known: GoneValues.Gone?, by coder: inout some Coder) throws(CodeError) {
        object = try coder(known?.object)
        sequence = try coder(known?.sequence)
    }
}

extension GoneValues: Coded {
    /// States of version 1 have the number of the last removal alone.
    init(_ known: GoneValues?, by coder: inout some Coder) throws(CodeError) {
        floor = try coder(known?.floor)
        guard coder.version >= 2 else { return }
        gone = try coder(known?.gone)
    }
}
