internal import CBelfrySystem

/// A program that this one starts, gives an input, and waits for.
///
/// Its input and what it writes are files in memory, so that neither side waits for the other.
public final class ChildProcess: Sendable {
    /// How a program ended.
    public struct Outcome: Equatable, Sendable {
        /// Its exit code; 128 and the signal for one that a signal ended, as shells have it.
        public let exitCode: Int32
        /// What it wrote to its standard output.
        public let output: [UInt8]
        /// What it wrote to its standard error.
        public let errorOutput: [UInt8]
    }

    private let number: Int32
    private let output: Descriptor
    private let errorOutput: Descriptor
    /// Whether the number may be that of another process by now.
    private let isReaped = Monitor(false)

    /// Starts a program, which is looked for in PATH, with these variables as its whole environment.
    ///
    /// It has a process group of its own, so that Ctrl-C does not reach it. The program is the first argument.
    public init(
        _ arguments: [String], environment: [String: String], input: [UInt8]
    ) throws(SystemCallError) {
        let inputFile = try Self.file()
        try writeAll(input.span, to: inputFile.rawValue)
        _ = try checked(belfry_rewind(inputFile.rawValue), "lseek")
        output = try Self.file()
        errorOutput = try Self.file()
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let (words, settings) = (Self.texts(arguments), Self.texts(variables))
        let (outputNumber, errorNumber) = (output.rawValue, errorOutput.rawValue)
        // SAFETY: both blocks have as many texts as is said, each with a zero byte, and live until the call returns.
        let started = unsafe belfry_child_start(
            words, arguments.count, settings, variables.count, inputFile.rawValue, outputNumber,
            errorNumber)
        number = try checked(started, "posix_spawn")
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
    /// - Throws: `EFBIG` when it wrote more bytes than the limit.
    public func wait(byteLimit: Int) throws(SystemCallError) -> Outcome {
        _ = try checked(belfry_child_await(number), "waitid")
        let code = isReaped.change { isReaped in
            isReaped = true
            return belfry_child_reap(number)
        }
        return Outcome(
            exitCode: try checked(code, "waitpid"),
            output: try Self.content(of: output, byteLimit),
            errorOutput: try Self.content(of: errorOutput, byteLimit))
    }

    private static func file() throws(SystemCallError) -> Descriptor {
        Descriptor(owning: try checked(belfry_memory_file(), "memfd_create"))
    }

    private static func content(
        of file: borrowing Descriptor, _ byteLimit: Int
    ) throws(SystemCallError) -> [UInt8] {
        _ = try checked(belfry_rewind(file.rawValue), "lseek")
        return try readToEnd(file.rawValue, byteLimit: byteLimit)
    }

    /// Texts one behind the other, each with a zero byte.
    private static func texts(_ texts: [String]) -> [UInt8] {
        texts.flatMap { Array($0.utf8.prefix { $0 != 0 }) + [0] }
    }
}
