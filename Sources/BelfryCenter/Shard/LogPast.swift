/// What is remembered of the last entries of a log, by their index.
struct LogPast: Sendable {
    /// What was true behind an entry.
    struct Mark: Sendable {
        /// The time of the log, in nanoseconds.
        let time: Int64
        /// The digest of all that the log had brought about.
        let chain: UInt64
    }

    /// How many entries are remembered: more than a broker writes in the time in which it is declared down.
    static let limit = 65_536

    private var marks = Ring<Mark>()
    /// The index of the first mark.
    private var firstIndex: UInt64 = 0

    /// Adds what is true behind the next entry; the first mark is that of an empty log.
    mutating func append(_ mark: Mark) {
        marks.append(mark)
        if marks.count > Self.limit {
            marks.removeFirst()
            firstIndex += 1
        }
    }

    /// What was true behind an entry; nil where that is not remembered any more.
    subscript(index: UInt64) -> Mark? {
        guard index >= firstIndex, index - firstIndex < UInt64(marks.count) else { return nil }
        return marks[marks.startPosition + (index - firstIndex)]
    }
}

extension LogPast: Coded {
    init(_ known: LogPast?, by coder: inout some Coder) throws(CodeError) {
        marks = try coder(known?.marks)
        firstIndex = try coder(known?.firstIndex)
    }
}

extension LogPast.Mark: Coded {
    init(_ known: LogPast.Mark?, by coder: inout some Coder) throws(CodeError) {
        time = try coder(known?.time)
        chain = try coder(known?.chain)
    }
}
