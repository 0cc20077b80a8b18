import BelfryCenter
import BelfryStore

// The end of a turn: the changes of the centers that got a command in it.

extension CenterTable {
    /// The changes of a turn in the centers that got a command.
    struct TurnEnd {
        /// The changes to store, in the order in which they happened in each center.
        var changes: [StoreChange] = []
        /// The growth of held bytes.
        var heldGrowth = 0
        /// The growth of queued bytes.
        var queueGrowth = 0
        /// The growth of the number of held notifications.
        var heldCountGrowth = 0
        /// The losses of observers in the turn.
        var losses: Losses?
        /// The growth of the number of queue entries.
        var entryGrowth = 0
        /// The first deadline of these centers.
        var deadline = Int64.max
    }

    /// Forgets the touched centers, but for those with another end, and returns the turn's changes.
    mutating func endTurn(at time: CommandTime, _ totals: borrowing CenterTotals) -> TurnEnd {
        var end = TurnEnd()
        if let earlier = ended.take() { end = earlier }
        // Commands after the end of the turn leave with the next one.
        var others: [Int] = []
        for position in touched {  // Bound: centers
            hosted[position].isTouched = false
            noteKept(at: position, ifChangedBy: Self.leastKeptChange)
            addTally(at: position, to: totals)
            let needs = shard.centers[position].needs
            note(needs, at: position, &end)
            if shard.centers.span[position].losses.total != hosted[position].knownLosses.total {
                note(shard.centers.span[position].losses, at: position, &end)
            }
            end.deadline = min(end.deadline, needs.nextDeadline(at: time))
            // A log ends turns by its own entries.
            if needs.turnEnd, log == nil { others.append(position) }
            if !keepsChanges { continue }
            let changes = hosted[position].endOfTurn()
            if changes.isEmpty { continue }
            let name = shard.centers[position].name
            end.changes.append(.center(name: name, changes: changes))
        }
        touched.removeAll(keepingCapacity: true)
        for position in others { touch(position) }  // Bound: centers
        return end
    }

    /// The growth of held texts in this turn, which the totals have once the turn has ended.
    var heldGrowthOfTurn: Int {
        touched.reduce(0) {
            $0 + shard.centers.span[$1].heldByteCount - hosted[$1].known.heldByteCount
        }
    }

    /// Adds the growth of clients, asks, timers and values since the last turn to the totals.
    ///
    /// Without the span the center would be copied.
    @inline(__always)
    private mutating func addTally(at position: Int, to totals: borrowing CenterTotals) {
        let changeCount = shard.centers.span[position].clientChangeCount
        if changeCount != hosted[position].knownClients.changeCount {
            hosted[position].add(shard.centers.span[position].clientCounts, to: totals)
        }
        if shard.centers.span[position].needs.hasTally {
            hosted[position].add(shard.centers.span[position].tally, to: totals)
        }
    }

    /// Adds the growth of a center by its needs, and notes them.
    mutating func note(_ needs: CenterNeeds, at position: Int, _ end: inout TurnEnd) {
        let known = hosted[position].known
        end.heldGrowth += needs.heldByteCount - known.heldByteCount
        end.queueGrowth += needs.queueByteCount - known.queueByteCount
        end.entryGrowth += needs.queueCount - known.queueCount
        end.heldCountGrowth += needs.heldCount - known.heldCount
        if needs.idle != known.idle { idleCount += needs.idle ? 1 : -1 }
        hosted[position].known = needs
    }

    /// Adds the losses of a center since the last turn, and notes them.
    mutating func note(_ losses: Losses, at position: Int, _ end: inout TurnEnd) {
        end.losses = end.losses ?? Losses()
        end.losses?.add(losses, since: hosted[position].knownLosses)
        hosted[position].knownLosses = losses
    }
}
