import BelfryClient
import BelfrySystem

/// Printing what comes, one line each.
enum Following {
    /// Prints until it is enough, a signal comes, or nobody reads any more; then closes.
    ///
    /// - Parameter line: prints one; false when nobody reads it.
    static func print<Elements: AsyncSequence>(
        _ elements: Elements, count: Int?, until signals: StopSignals,
        close: @escaping @Sendable () async -> Void,
        line: (Elements.Element) async throws(ClientError) -> Bool
    ) async throws(ClientError) where Elements.Failure == ClientError {
        let stopping = Task {
            await signals.wait()
            await close()
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

    /// Says on standard error what was lost before a notification.
    static func sayLoss(_ notification: ReceivedNotification, of things: String) {
        guard let gap = notification.gapBefore else { return }
        let lost = gap.lostCount.map { "\($0)" } ?? "some"
        Program.say("belfry: \(lost) \(things) were lost (\(gap.reason))", to: .error)
    }

    /// Prints JSON on one line; false when nobody reads it.
    static func write(_ json: [UInt8]) -> Bool {
        do throws(ToolError) {
            try Report.write(Report.oneLine(json))
            return true
        } catch {
            // The reader of the pipe has gone, as `head` does: that is a way to end.
            return false
        }
    }
}
