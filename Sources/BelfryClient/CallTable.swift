internal import BelfryLoop
internal import BelfrySystem

/// The calls whose answers have not come, and the commands that wait for a connection.
///
/// Each has a deadline; one timer of the loop serves the earliest of them.
struct CallTable {
    /// A call, with the reply that its answer is for.
    enum Call {
        case addObserver(selector: String, ClientCommand.Reply<Registration>?)
        case removeObserver(ClientCommand.Reply<Void>?)
        /// A post; the wish is that of one for the disconnection.
        case post(PostWish?, ClientCommand.Reply<PostReceipt>)
        case resume
        case setSuspended(Bool, ClientCommand.Reply<Void>?)
        /// Another method; the write is one that `LastingWrites` follows.
        case method(ValueWrite?, ClientCommand.Reply<[UInt8]>)
        /// A call that no task waits for, and that makes a lasting write again.
        case again(LastingWrites.Purpose)
    }

    /// The most open calls, the most commands that wait, and the most abandoned registrations.
    private let countLimit: Int
    private var entries: [Int: (call: Call, deadline: MonotonicTime)] = [:]
    private var lastNumber = 0
    /// The calls of registrations that timed out: observers that the broker confirms now are
    /// removed.
    private var abandoned: Set<Int> = []
    private var waiting: [(command: ClientCommand, deadline: MonotonicTime)] = []
    private var timer: (id: TimerID, deadline: MonotonicTime)?

    init(countLimit: Int) {
        self.countLimit = countLimit
    }

    var hasOpenCalls: Bool { !entries.isEmpty }

    // MARK: Calls

    /// Makes the number of a call; one that is not opened has no answer to wait for.
    mutating func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Opens a call, and gives its number.
    ///
    /// - Returns: nil when too many calls are open; the call has failed then.
    mutating func open(
        _ call: Call, until deadline: MonotonicTime, _ loop: inout EventLoop
    ) -> Int? {
        guard entries.count < countLimit else {
            call.fail(.tooManyRequests(limit: countLimit))
            return nil
        }
        let number = makeNumber()
        entries[number] = (call, deadline)
        schedule(deadline, &loop)
        return number
    }

    /// Closes the call whose answer has come; nil when it was given up before.
    mutating func close(_ number: Int) -> Call? {
        entries.removeValue(forKey: number)?.call
    }

    /// Closes all calls, in their order, as their connection has ended.
    mutating func closeAll() -> [Call] {
        let calls = entries.sorted { $0.key < $1.key }.map(\.value.call)
        entries.removeAll()
        abandoned.removeAll()
        return calls
    }

    /// Strikes an abandoned registration off, whose confirmation has come.
    mutating func strikeAbandoned(_ number: Int) -> Bool {
        abandoned.remove(number) != nil
    }

    // MARK: Commands without a connection

    /// Keeps a command for the next connection, or fails it when too many wait.
    mutating func enqueue(
        _ command: ClientCommand, until deadline: MonotonicTime, _ loop: inout EventLoop
    ) {
        if waiting.count >= countLimit {
            // The task of a cancelled command does not wait any more.
            waiting.removeAll { !$0.command.isWanted }
        }
        guard waiting.count < countLimit else {
            return command.fail(.tooManyRequests(limit: countLimit))
        }
        waiting.append((command, deadline))
        schedule(deadline, &loop)
    }

    /// Releases the commands that waited, in their order.
    mutating func releaseWaiting() -> [ClientCommand] {
        let commands = waiting.map(\.command)
        waiting.removeAll()
        return commands
    }

    // MARK: Deadlines

    private mutating func schedule(_ deadline: MonotonicTime, _ loop: inout EventLoop) {
        if let timer {
            guard deadline < timer.deadline else { return }
            loop.cancel(timer.id)
        }
        timer = (loop.schedule(at: deadline, ClientTimer.calls), deadline)
    }

    /// Fails the commands that waited too long, and closes the calls that did, in their order.
    mutating func expire(_ loop: inout EventLoop) -> [Call] {
        timer = nil
        let now = loop.now
        for waiter in waiting where waiter.deadline <= now { waiter.command.fail(.timedOut) }
        waiting.removeAll { $0.deadline <= now }
        let late = entries.filter { $0.value.deadline <= now }.sorted { $0.key < $1.key }
        for (number, entry) in late {
            entries[number] = nil
            if case .addObserver = entry.call, abandoned.count < countLimit {
                abandoned.insert(number)
            }
        }
        let deadlines = entries.values.map(\.deadline) + waiting.map(\.deadline)
        if let next = deadlines.min() { schedule(next, &loop) }
        return late.map(\.value.call)
    }
}

extension CallTable.Call {
    /// Reports to the task that waits, if one does, that no answer comes.
    func fail(_ error: ClientError) {
        switch self {
        case .addObserver(_, let reply): reply?(.failure(error))
        case .removeObserver(let reply): reply?(.failure(error))
        case .post(_, let reply): reply(.failure(error))
        case .resume, .again: break
        case .setSuspended(_, let reply): reply?(.failure(error))
        case .method(_, let reply): reply(.failure(error))
        }
    }
}
