/// Posts and writes, kept as plainly as can be.
struct PresentTruth {
    struct Place: Hashable, Comparable, CustomStringConvertible {
        let object: [UInt8]
        let key: [UInt8]

        static func < (left: Place, right: Place) -> Bool { left.description < right.description }

        var description: String { String(decoding: object + [0x2F] + key, as: UTF8.self) }
    }

    static let name = [UInt8]("n".utf8)
    static let valueName = [UInt8]("belfry.value".utf8)
    static let places = ["x", "y"].flatMap { object in
        ["a", "b"].map { Place(object: [UInt8](object.utf8), key: [UInt8]($0.utf8)) }
    }

    /// Where the numbers of this life begin, and what was posted in it.
    private(set) var start: UInt64 = 0
    var posts: Set<UInt64> = []
    private(set) var values: [Place: Int] = [:]
    var ends: [Place: Int64] = [:]
    /// No change of a place has a greater number.
    private(set) var changes: [Place: UInt64] = [:]

    mutating func put(_ value: Int?, at place: Place, number: UInt64) {
        if values[place] != value { changes[place] = number }
        values[place] = value
        ends[place] = nil
    }

    /// Lets end what is over.
    mutating func end(at now: Int64, number: UInt64) {
        for (place, end) in ends where end <= now { put(nil, at: place, number: number) }
    }

    mutating func beginLife(at sequence: UInt64, _ now: Int64) {
        start = sequence
        posts = []
        end(at: now, number: sequence)
    }
}
