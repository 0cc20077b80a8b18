internal import CBelfrySystem
internal import Glibc

/// Signals as something to read, instead of handlers that interrupt (signalfd(2)).
public struct SignalDescriptor: ~Copyable {
    private let descriptor: Descriptor

    /// Blocks the signals in this thread, and in those it starts later, and collects them.
    ///
    /// Make it before the first thread is started: a thread that does not block a signal may be
    /// ended by it. The numbers are 1 to 63.
    public init(_ numbers: [Int32]) throws(SystemCallError) {
        var mask: UInt64 = 0
        for number in numbers {
            precondition((1...63).contains(number), "no such signal")
            mask |= 1 << UInt64(number)
        }
        descriptor = Descriptor(owning: try checked(belfry_signal_create(mask), "signalfd"))
    }

    /// The number to watch for `.readable`.
    public var rawValue: Int32 {
        descriptor.rawValue
    }

    /// Takes the next signal that arrived, or `nil` when there is none.
    public func next() throws(SystemCallError) -> Int32? {
        try countOrBlocked(Int(belfry_signal_next(descriptor.rawValue)), "read").map(Int32.init)
    }

    /// Makes a write to a closed pipe an error for the writer instead of the end of the process.
    public static func ignoreBrokenPipe() throws(SystemCallError) {
        _ = try checked(belfry_ignore_broken_pipe(), "sigaction")
    }
}
