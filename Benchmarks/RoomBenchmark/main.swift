import BelfrySystem
import Glibc

// Works of single rooms, for Benchmarks/counts.py to count.
//
//     RoomBenchmark WORK...
//
// It makes each work, prints `ready`, and then reads numbers, one a line: it does the work so many
// times and prints `done`. An empty line ends the work. Between two lines it rests, so that a
// script can read the counts of callgrind, or how much memory the process has.

/// The events that are about many things, each with a few of them and with ten times as many.
let growing: [String: () -> any Work] = [
    "timers-end-1k": { Growing.timersEnd(1_000) },
    "timers-end-10k": { Growing.timersEnd(10_000) },
    "timers-replace-1k": { Growing.timersReplace(1_000) },
    "timers-replace-10k": { Growing.timersReplace(10_000) },
    "reports-1k": { Growing.reports(1_000) },
    "reports-10k": { Growing.reports(10_000) },
    "merge-2k": { Growing.merge(2_000) },
    "merge-20k": { Growing.merge(20_000) },
    "asker-leaves-100": { Growing.askerLeaves(100) },
    "asker-leaves-1k": { Growing.askerLeaves(1_000) },
    "responder-leaves-1k": { Growing.responderLeaves(1_000) },
    "responder-leaves-10k": { Growing.responderLeaves(9_999) },
    "report-rows-100": { Growing.reportRows(100) },
    "report-rows-1k": { Growing.reportRows(1_000) },
    "walk-100": { Growing.walk(100) },
    "walk-1k": { Growing.walk(1_000) },
]

/// The works by their names.
let works: [String: () -> any Work] = [
    "match-1": { Matching(observerCount: 1) },
    "match-1k": { Matching(observerCount: 1_000) },
    "match-1m": { Matching(observerCount: 1_000_000) },
    "match-280": { Filtering() },
    "match-kept": { Keeping() },
    "match-prefixes": { Filtering(prefixCount: 10_000) },
    "where-three": { Filtering(hasCondition: true) },
    "where-false": { Filtering(hasCondition: true, falseCount: 1_000) },
    "match-timers": { Matching(observerCount: 1, timerCount: 1_000_000) },
    "timer-1k": { Timing(timerCount: 1_000) },
    "timer-1m": { Timing(timerCount: 1_000_000) },
    "timers": { Waiting() },
    "enqueue": { Coalescing() },
    "text-frame": { ReadingFrames(opcode: 1, payloadByteCount: 20) },
    "binary-frame": { ReadingFrames(opcode: 2, payloadByteCount: 20) },
    "text-frame-16": { ReadingFrames(opcode: 1, payloadByteCount: 280) },
    "text-frame-64": { ReadingFrames(opcode: 1, payloadByteCount: 70_000) },
    "ping-frame": { ReadingFrames(opcode: 9, payloadByteCount: 4) },
    "close-frame": { ReadingFrames(opcode: 8, payloadByteCount: 2) },
    "head": { ReadingPosts(repeatsHead: false) },
    "head-again": { ReadingPosts(repeatsHead: true) },
    "observers": { Registering(haveOwnNames: false) },
    "named-observers": { Registering(haveOwnNames: true) },
    "held": { Holding() },
].merging(growing) { _, last in last }

func tell(_ text: String) {
    // A failure means that the reader has gone, and its measurement with it.
    _ = try? StandardStream.output.write(text + "\n")
}

// As the broker does: what a table leaves behind as it grows is no cost of an observer.
MemoryLimit.returnLargeBlocks()
for name in CommandLine.arguments.dropFirst() {
    guard let make = works[name] else { fatalError("there is no work \(name)") }
    var work = make()
    tell("ready")
    while let line = readLine(), let count = Int(line) {
        work.run(count)
        tell("done")
    }
}
// The process ends here: to take the centers apart is not what is measured.
exit(0)
