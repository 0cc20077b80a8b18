import ArgumentParser
import BelfryClient
import BelfrySystem

/// The option to reconnect, for a command that prints notifications.
struct FollowOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Reconnect when the connection is lost, and report that on standard error; or exit.")
    var reconnect = true

    /// Connects, and says on standard error when the connection is away and when it is back.
    ///
    /// - Parameter readsPast: whether more may come at once than a terminal takes.
    func connect(
        to url: BrokerURL, readsPast: Bool = false
    ) async throws(ClientError) -> RemoteCenter {
        var options = ClientOptions.printing(past: readsPast)
        options.reconnects = reconnect
        let center = try await RemoteCenter.connect(to: url, options: options)
        let states = center.connectionStates
        Task {
            var teller = ConnectionTeller()
            for await state in states {
                if let text = teller.text(of: state) { Screen.say("belfry: \(text)", to: .error) }
            }
        }
        return center
    }
}

extension ClientOptions {
    /// The options of a command that prints; of the past more comes at once than a terminal takes.
    static func printing(past: Bool) -> ClientOptions {
        var options = ClientOptions()
        if past {
            options.bufferCountLimit = .max
            options.bufferByteLimit = 256 << 20
        }
        return options
    }
}

/// Reports once that a connection is away, however many attempts fail, and once that it is back.
struct ConnectionTeller {
    private var isAway = false

    /// A sentence about a new state, if it is new.
    mutating func text(of state: ConnectionState) -> String? {
        switch state {
        case .away(let error):
            defer { isAway = true }
            return isAway ? nil : "\(error); trying to connect again"
        case .open:
            defer { isAway = false }
            return isAway ? "connected again" : nil
        // The command ends with it, and tells it as its error.
        case .over: return nil
        }
    }
}

/// Prints notifications or changes, one line each.
enum Following {
    /// Prints until the count is reached, a signal comes, or the reader is gone; then closes.
    ///
    /// - Parameter line: prints one element; false when the reader is gone.
    static func print<Elements: AsyncSequence>(
        _ elements: Elements, count: Int?, until signals: StopSignals,
        close: @escaping @Sendable () async -> Void,
        line: (Elements.Element) async throws(ClientError) -> Bool
    ) async throws(ClientError) where Elements.Failure == ClientError {
        let stopping = Task {
            if await signals.wait() { await close() }
        }
        var printedCount = 0
        for try await element in elements {
            guard try await line(element) else { break }
            printedCount += 1
            if printedCount == count { break }
        }
        // After a signal the sequence ends before the closing does.
        await close()
        stopping.cancel()
    }

    /// Reports the losses before a notification on standard error.
    static func sayLoss(_ notification: ReceivedNotification, of things: String) {
        if let gap = notification.gapBefore { sayLoss(gap.lostCount, gap.reason, things) }
    }

    /// Reports a loss on standard error, with its count or as unknown.
    static func sayLoss(_ lostCount: Int?, _ reason: String, _ things: String) {
        let lost = lostCount.map { "\($0)" } ?? "some"
        Screen.say("belfry: \(lost) \(things) were lost (\(reason))", to: .error)
    }

    /// Prints a line; false when the reader is gone.
    static func write(_ line: PrintedLine) -> Bool {
        do throws(ToolError) {
            try Report.write(line)
            return true
        } catch {
            // The reader of the pipe has gone, as `head` does: that is a way to end.
            return false
        }
    }
}
