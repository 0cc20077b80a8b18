import BelfrySystem
import SimulatedLog

#if canImport(Glibc)
    import Glibc
#endif

// Runs the cases of journals on a NATS server that runs, or on a cluster of them.
//
//     belfry-engine-cases REPLICAS ADDRESS... [PROCESS...]
//
// With the processes of the servers, which have the names n0, n1, and so on, the last case kills
// one of them.

/// Ends with what is wrong.
func fail(_ text: String) -> Never {
    print("error: \(text)")
    exit(1)
}

let arguments = CommandLine.arguments.dropFirst()
guard let replicaCount = arguments.first.flatMap({ Int($0) }), arguments.count > 1 else {
    fail("usage: belfry-engine-cases REPLICAS ADDRESS... [PROCESS...]")
}
let processes = arguments.dropFirst().compactMap { Int32($0) }
let addresses = arguments.dropFirst().dropLast(processes.count).map { text in
    SocketAddress(text) ?? { fail("\(text) is not an address with a port") }()
}
let engine = try Engine(addresses, replicaCount: replicaCount, processes: processes)
let cases =
    JournalCases.all.map { row in (row.name, { row.run(engine.cases) }) }
    + EngineCases.all.map { row in (row.name, { row.run(EngineCases(engine: engine)) }) }
var badCount = 0
for (name, run) in cases {
    let start = MonotonicTime.now()
    let problems = run()
    let milliseconds = (MonotonicTime.now() - start) / .milliseconds(1)
    print("\(problems.isEmpty ? "holds " : "FAILED") \(name) (\(Int(milliseconds)) ms)")
    for problem in problems { print("    \(problem)") }
    if !problems.isEmpty { badCount += 1 }
}
print("\(cases.count - badCount) hold, \(badCount) failed")
exit(badCount == 0 ? 0 : 1)
