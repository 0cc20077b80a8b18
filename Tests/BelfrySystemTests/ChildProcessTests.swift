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

    @Test(
        "one that writes without end is asked to end, and nothing more of it is kept",
        arguments: ["while :; do echo y; done", "while :; do echo y >&2; done"])
    func endless(script: String) {
        #expect(throws: SystemCallError(call: "read", errno: EFBIG)) {
            try run(script, byteLimit: 100_000)
        }
    }

    @Test("what a program has started is not waited for, and what it wrote before its end is there")
    func leftBehind() throws {
        let started = MonotonicTime.now()
        #expect(try run("/bin/sleep 30 & echo in").output == Array("in\n".utf8))
        #expect(try run("echo no > /dev/stderr; exit 1").errorOutput == Array("no\n".utf8))
        let most = String(repeating: "x", count: 300_000)
        #expect(try run("cat", input: most, byteLimit: 300_000).output == Array(most.utf8))
        #expect(MonotonicTime.now() - started < .seconds(20))
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
