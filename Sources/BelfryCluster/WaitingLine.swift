import BelfryCenter

/// The commands that wait for the next entry.
struct WaitingLine {
    private(set) var commands: [(command: Entry.Numbered, submittedAt: Int64)] = []
    private(set) var byteCount = 0
    private var mustHappenCount = 0

    /// Whether one of them must happen.
    var mustHappen: Bool { mustHappenCount > 0 }
    var isEmpty: Bool { commands.isEmpty }
    var isFull: Bool {
        commands.count >= ClusterOptions.waitingLimit
            || byteCount >= ClusterOptions.waitingByteLimit
    }

    mutating func append(_ command: Entry.Numbered, at now: Int64) {
        commands.append((command, now))
        byteCount += command.byteCount
        if command.action.mustHappen { mustHappenCount += 1 }
    }

    /// Takes as many as an entry may have, and at least one.
    mutating func takeEntry(_ options: ClusterOptions) -> [Entry.Numbered] {
        let byteLimit = min(ClusterOptions.gatheredByteLimit, options.commandByteLimit)
        var count = 0
        var bytes = 0
        while count < min(commands.count, options.commandLimit) {
            let more = commands[count].command.byteCount
            if count > 0, bytes + more > byteLimit { break }
            bytes += more
            count += 1
        }
        let taken = commands[..<count].map(\.command)
        commands.removeFirst(count)
        byteCount -= bytes
        mustHappenCount -= taken.count { $0.action.mustHappen }
        return taken
    }

    /// Takes the commands whose submitter need not wait any longer, submitted by this time.
    mutating func takeRefusable(submittedBy time: Int64 = .max) -> [Entry.Numbered] {
        let taken = commands.filter {
            $0.submittedAt <= time && !$0.command.action.mustHappen
        }
        if taken.isEmpty { return [] }
        commands.removeAll { $0.submittedAt <= time && !$0.command.action.mustHappen }
        byteCount -= taken.reduce(0) { $0 + $1.command.byteCount }
        return taken.map(\.command)
    }
}
