import BelfryLoop
import BelfrySystem

extension ServerLoop {
    /// Ends a turn: all output of the end leaves in the same flush.
    mutating func endTurn() {
        if callers.entrance.tls != nil { continueHandshakes() }
        if host.centers.hasSequencer { applyInOrder() }
        let hasEnded = host.endTurnOfCenters(&context)
        if !host.postponed.isEmpty { host.doPostponed(behindCenters: hasEnded, &context) }
        react()
        // The answer to one may let a request be read that ends, or completes, another. Those
        // without room in this turn wait for the next one.
        while host.hasWaitEnds {
            host.answerPolls(&context)
            host.answerFates(&context)
            host.answerValues(&context)
            host.answerCompletions(&context)
            react()
            guard host.hasWaitEnds, context.largeAnswersMustWait else { continue }
            context.loop.takeAnotherTurn()
            break
        }
        if !host.kept.trims.isEmpty {
            host.trimKept(&context)
            react()
        }
        if context.loop.unsentByteTotal > callers.connections.unsentWatch.share {
            callers.connections.closeSlowest(&context)
            callers.connections.boundUnsentShares(&context)
            react()
        }
        if context.life.isStopping, !context.life.isSealed { settle() }
        host.handOver(&context)
        if host.centers.log != nil { endTurnOfLog() }
        // A loop that takes no mail has refused the messages of this one.
        if context.outbox.hasItems { context.loop.takeAnotherTurn() }
        context.outbox.compression.endTurn()
        context.counters.turns += 1
        host.scanBudget = ScanBudget()
        callers.connections.ticket = host.promises.ticket
        if !metricsText.isEmpty { metricsText = [] }
        context.counters.connectionsOpen = UInt64(clientConnectionCount)
        context.counters.waitingAnswers = UInt64(host.promises.waitingCount)
        context.counters.unsentBytes = UInt64(context.loop.unsentByteTotal)
        context.counters.unfinishedBytes = UInt64(callers.connections.unfinishedTotal.count)
        if let tls = callers.entrance.tls {
            context.counters.sessionBytes = UInt64(tls.sessionByteCount)
        }
        if context.counters.descriptorsExhausted != context.loop.exhaustionCount {
            context.meet(.descriptors)
        }
        context.counters.descriptorsExhausted = UInt64(context.loop.exhaustionCount)
        context.counters.connectionsPastRefusal = UInt64(context.loop.directRefusalCount)
        context.shared.counters[context.number].publish(&context.counters)
        if peakWatch.hasFallen(to: keptByteCount) { context.shared.trimmer.ask() }
    }

    /// Whether work after the end of the turn needs another end.
    var hasTurnWork: Bool {
        !host.centers.touched.isEmpty || host.hasWaitEnds || context.outbox.hasOutbound
    }

    /// The memory of this loop, of all kinds.
    var keptByteCount: Int {
        host.kept.byteCount + callers.connections.unfinishedTotal.count
            + context.loop.unsentByteTotal
            + Int(context.counters.sessionBytes)
            + context.loop.connectionCount * ServerConfiguration.ownConnectionByteCount
    }
}
