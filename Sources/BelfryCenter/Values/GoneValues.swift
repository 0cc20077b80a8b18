/// The objects whose values were removed lately, with the numbers of the removals.
struct GoneValues: Footprinted, Sendable {
    fileprivate struct Gone: Sendable {
        let object: [UInt8]
        let sequence: UInt64
    }

    /// The number of objects that are remembered.
    static let limit = 64

    /// The removed values, the oldest removal first.
    private var gone: [Gone] = []
    /// The bytes of the objects.
    private var objectByteCount = 0
    /// No other object lost its value above this number.
    private var floor: UInt64 = 0

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.array(of: gone.capacity, stride: MemoryLayout<Gone>.stride)
            + Footprint.texts(count: gone.count, byteCount: objectByteCount)
    }

    /// Notes that the value of an object was removed, with the highest number so far.
    mutating func note(_ object: [UInt8], at sequence: UInt64) {
        gone.removeAll { $0.object == object }
        if gone.count == Self.limit { floor = gone.removeFirst().sequence }
        gone.append(Gone(object: object, sequence: sequence))
        countBytes()
    }

    /// Forgets removals up to a number.
    mutating func forget(through sequence: UInt64) {
        gone = []
        floor = sequence
        countBytes()
    }

    /// Counts the bytes of the few objects, each of which was examined already.
    private mutating func countBytes() {
        objectByteCount = gone.reduce(0) { $0 + $1.object.count }
    }

    /// The highest number with which an object without a value may have lost it.
    func last(of object: [UInt8]) -> UInt64 {
        gone.last { $0.object == object }?.sequence ?? floor
    }

    /// Adds the whole table to a digest.
    func addDigest(to digest: inout StateDigest) {
        digest.add(floor)
        digest.add(gone.count)
        for gone in gone {  // Bound: snapshot
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
    /// Reads the table; states of version 1 have only the number of the last removal.
    init(_ known: GoneValues?, by coder: inout some Coder) throws(CodeError) {
        floor = try coder(known?.floor)
        guard coder.version >= 2 else { return }
        gone = try coder(known?.gone)
        countBytes()
    }
}
