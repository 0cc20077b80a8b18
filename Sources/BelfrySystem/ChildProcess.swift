internal import CBelfrySystem
internal import Glibc

/// A program that this one starts, gives an input, and waits for.
///
/// Its input is a file in memory; its output comes through pipes, and is kept up to a limit.
public final class ChildProcess: Sendable {
    /// How a program ended.
    public struct Outcome: Equatable, Sendable {
        /// Its exit code; 128 and the signal for one that a signal ended, as shells have it.
        public let exitCode: Int32
        /// The standard output.
        public let output: [UInt8]
        /// The standard error.
        public let errorOutput: [UInt8]
    }

    private let number: Int32
    /// A descriptor that is readable once it has ended; negative where the kernel has none.
    private let watch: Int32
    private let output: Descriptor
    private let errorOutput: Descriptor
    /// Whether the number may be that of another process by now.
    private let isReaped = Monitor(false)

    /// Starts a program, found in PATH, with these variables as its whole environment.
    ///
    /// It has a process group of its own, so that Ctrl-C does not reach it. The program is the
    /// first argument.
    public init(
        _ arguments: [String], environment: [String: String], input: [UInt8]
    ) throws(SystemCallError) {
        let inputFile = try Self.file()
        try writeAll(input.span, to: inputFile.rawValue)
        _ = try checked(belfry_rewind(inputFile.rawValue), "lseek")
        let (outputPipe, errorPipe) = (belfry_pipe(), belfry_pipe())
        _ = try checked(outputPipe.status, "pipe2")
        output = Descriptor(owning: outputPipe.reading)
        let outputEnd = Descriptor(owning: outputPipe.writing)
        _ = try checked(errorPipe.status, "pipe2")
        errorOutput = Descriptor(owning: errorPipe.reading)
        let errorEnd = Descriptor(owning: errorPipe.writing)
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let (words, settings) = (Self.texts(arguments), Self.texts(variables))
        let (outputNumber, errorNumber) = (outputEnd.rawValue, errorEnd.rawValue)
        // SAFETY: both blocks have as many texts as is said, each with a zero byte, and live until
        // the call returns.
        let started = unsafe belfry_child_start(
            words, arguments.count, settings, variables.count, inputFile.rawValue, outputNumber,
            errorNumber)
        number = try checked(started, "posix_spawn")
        watch = belfry_child_watch(number)
    }

    deinit {
        if watch >= 0 { belfry_close(watch) }
    }

    /// Asks it, and all that it has started, to end: SIGTERM.
    public func terminate() {
        isReaped.change { isReaped in
            // One that has ended meanwhile needs no signal.
            if !isReaped { _ = belfry_child_terminate(number) }
        }
    }

    /// Waits until it has ended; call it once, where a thread may block.
    ///
    /// What others that it has started write after its end is not waited for.
    ///
    /// - Parameter byteLimit: how many bytes each of its outputs may have; past it the program is
    ///   asked to end, and nothing more is kept.
    /// - Throws: `EFBIG` when it wrote more bytes than the limit.
    public func wait(byteLimit: Int) throws(SystemCallError) -> Outcome {
        var (kept, keptErrors) = (Kept(byteLimit: byteLimit), Kept(byteLimit: byteLimit))
        var wasTerminated = false
        while true {
            let ready = try checked(
                belfry_child_await(
                    number, watch, kept.isOpen ? output.rawValue : -1,
                    keptErrors.isOpen ? errorOutput.rawValue : -1), "poll")
            if ready & 1 != 0 { try kept.read(output.rawValue) }
            if ready & 2 != 0 { try keptErrors.read(errorOutput.rawValue) }
            let isTooMuch = kept.isTooMuch || keptErrors.isTooMuch
            if isTooMuch, !wasTerminated {
                wasTerminated = true
                terminate()
            }
            if ready & 4 != 0, ready & 3 == 0 || isTooMuch { break }
        }
        let code = isReaped.change { isReaped in
            isReaped = true
            return belfry_child_reap(number)
        }
        let exitCode = try checked(code, "waitpid")
        if wasTerminated { throw SystemCallError(call: "read", errno: EFBIG) }
        return Outcome(exitCode: exitCode, output: kept.bytes, errorOutput: keptErrors.bytes)
    }

    /// The part of an output that is kept.
    private struct Kept {
        let byteLimit: Int
        private(set) var bytes: [UInt8] = []
        private(set) var isOpen = true
        private(set) var isTooMuch = false

        init(byteLimit: Int) {
            self.byteLimit = byteLimit
        }

        /// Reads the output; past the limit it is dropped, so that the program is not blocked.
        mutating func read(_ number: Int32) throws(SystemCallError) {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = try readOnce(number, into: &chunk)
            isOpen = count > 0
            if bytes.count + count > byteLimit {
                isTooMuch = true
                bytes = []
            }
            if !isTooMuch { bytes += chunk[..<count] }
        }
    }

    private static func file() throws(SystemCallError) -> Descriptor {
        Descriptor(owning: try checked(belfry_memory_file(), "memfd_create"))
    }

    /// Texts one behind the other, each with a zero byte.
    private static func texts(_ texts: [String]) -> [UInt8] {
        texts.flatMap { Array($0.utf8.prefix { $0 != 0 }) + [0] }
    }
}
