import BelfrySystem
import Glibc
import Testing

@Suite("ChildProcess")
struct ChildProcessTests {
    private func run(
        _ script: String, environment: [String: String] = [:], input: String = "",
        byteLimit: Int = 1_000
    ) throws -> ChildProcess.Outcome {
        let child = try ChildProcess(
            ["/bin/sh", "-c", script], environment: environment, input: Array(input.utf8))
        return try child.wait(byteLimit: byteLimit)
    }

    @Test("a program gets its input and its environment, and what it writes is kept apart")
    func streams() throws {
        let outcome = try run(
            #"cat; echo "$A-$HOME" >&2; exit 7"#, environment: ["A": "x=y"], input: "in\n")
        #expect(outcome.exitCode == 7)
        #expect(outcome.output == Array("in\n".utf8))
        #expect(outcome.errorOutput == Array("x=y-\n".utf8))
    }

    @Test("a signal ends all that it has started, and is its exit code")
    func signals() throws {
        let child = try ChildProcess(
            ["/bin/sh", "-c", "/bin/sleep 1000; exit 3"], environment: [:], input: [])
        child.terminate()
        #expect(try child.wait(byteLimit: 10).exitCode == 128 + SIGTERM)
        child.terminate()
    }

    @Test("what is longer than the limit is an error, and so is what is no program")
    func errors() throws {
        #expect(try run("printf 1234", byteLimit: 4).output.count == 4)
        #expect(throws: SystemCallError(call: "read", errno: EFBIG)) {
            try run("printf 12345", byteLimit: 4)
        }
        #expect(throws: SystemCallError(call: "posix_spawn", errno: ENOENT)) {
            _ = try ChildProcess(["/nonexistent"], environment: [:], input: [])
        }
    }
}
