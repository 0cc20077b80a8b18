import BelfryLoop
import BelfrySystem

extension ServerLoop {
    /// Ends a turn: all output of the end leaves in the same flush.
    mutating func endTurn() {
        if callers.entrance.tls != nil { continueHandshakes() }
        if host.centers.hasSequencer { applyInOrder() }
        let hasEnded = host.endTurnOfCenters(&outbox)
        if !host.postponed.isEmpty { host.doPostponed(behindCenters: hasEnded, &outbox) }
        react()
        // The answer to one may let a request be read that ends, or completes, another. Those
        // without room in this turn wait for the next one.
        while host.hasWaitEnds {
            host.answerPolls(&outbox)
            host.answerFates(&outbox)
            host.answerValues(&outbox)
            host.answerCompletions(&outbox)
            react()
            guard host.hasWaitEnds, outbox.largeAnswersMustWait else { continue }
            outbox.loop.takeAnotherTurn()
            break
        }
        if !host.kept.trims.isEmpty {
            host.trimKept(&outbox)
            react()
        }
        if outbox.loop.unsentByteTotal > callers.connections.unsentWatch.share {
            callers.connections.closeSlowest(&outbox)
            callers.connections.boundUnsentShares(&outbox)
            react()
        }
        if outbox.life.isStopping, !outbox.life.isSealed { settle() }
        host.handOver(&outbox)
        if host.centers.log != nil { endTurnOfLog() }
        // A loop that takes no mail has refused the messages of this one.
        if outbox.hasItems { outbox.loop.takeAnotherTurn() }
        outbox.compression.endTurn()
        outbox.counters.turns += 1
        host.scanBudget = ScanBudget()
        callers.connections.ticket = host.promises.ticket
        if !metricsText.isEmpty { metricsText = [] }
        outbox.counters.connectionsOpen = UInt64(clientConnectionCount)
        outbox.counters.waitingAnswers = UInt64(host.promises.waitingCount)
        outbox.counters.unsentBytes = UInt64(outbox.loop.unsentByteTotal)
        outbox.counters.unfinishedBytes = UInt64(callers.connections.unfinishedTotal.count)
        if let tls = callers.entrance.tls {
            outbox.counters.sessionBytes = UInt64(tls.sessionByteCount)
        }
        if outbox.counters.descriptorsExhausted != outbox.loop.exhaustionCount {
            outbox.meet(.descriptors)
        }
        outbox.counters.descriptorsExhausted = UInt64(outbox.loop.exhaustionCount)
        outbox.counters.connectionsPastRefusal = UInt64(outbox.loop.directRefusalCount)
        outbox.shared.counters[outbox.number].publish(&outbox.counters)
        if peakWatch.hasFallen(to: keptByteCount) { outbox.shared.trimmer.ask() }
    }

    /// Whether work after the end of the turn needs another end.
    var hasTurnWork: Bool {
        !host.centers.touched.isEmpty || host.hasWaitEnds || outbox.hasOutbound
    }

    /// The memory of this loop, of all kinds.
    var keptByteCount: Int {
        host.kept.byteCount + callers.connections.unfinishedTotal.count
            + outbox.loop.unsentByteTotal
            + Int(outbox.counters.sessionBytes)
            + outbox.loop.connectionCount * ServerConfiguration.ownConnectionByteCount
    }
}
