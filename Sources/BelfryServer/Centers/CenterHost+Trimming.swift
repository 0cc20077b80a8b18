import BelfryAccess
import BelfryCenter
import BelfryWire
import Synchronization

extension CenterHost {
    /// Trims the kinds over their limits: this loop's center that keeps most forgets its oldest.
    ///
    /// One command forgets an eighth, so that tables do not shrink with each post and no request
    /// waits for it; the next turn continues. Held notifications are left alone while the store is
    /// behind: the store has to record each one that goes.
    mutating func trimKept(_ context: inout LoopContext) {
        var others = kept.takeTrims()
        for kind in KeptKind.allCases where others.remove(Trim(kind: kind, owner: .none)) != nil {
            if kind == .held, storeIsBehind {
                kept.restBeforeTrimming(&context)
            } else if kind == .held ? trimHeld(&context) : trim(kind, &context) {
                kept.trimLater(kind, &context)
            }
        }
        for trim in others { trimShare(trim, &context) }  // Bound: owners
    }

    /// Trims a kind, and returns whether there is still too much.
    private mutating func trim(_ kind: KeptKind, _ context: inout LoopContext) -> Bool {
        guard kept.excess(of: kind) > 0, let position = centers.largestKeeper(of: kind) else {
            return false
        }
        if centers.isDoing(.trim, at: position) { return true }
        let count = centers.trimmableCount(of: kind, at: position)
        guard count > 0 else { return false }
        tell(centers.trimAction(kind, at: position), to: position, &context)
        centers.noteKept(at: position)
        kept.account(for: &centers, &context)
        return kept.excess(of: kind) > 0
    }

    /// The most bytes of held texts that one command drops; busy clients send less in a turn.
    ///
    /// A start may find far more than there is room for, and the store has to record each one.
    static let heldTrimByteCount = 512 << 10

    /// Drops the oldest held notifications of the center that holds most here (decision 46).
    ///
    /// - Returns: whether the next turn continues.
    private mutating func trimHeld(_ context: inout LoopContext) -> Bool {
        guard let position = centers.largestKeeper(of: .held) else { return false }
        if centers.isDoing(.trim, at: position) { return true }
        let held = centers[position].heldByteCount
        let cost = max(1, centers.kept(.held, at: position))
        // The excess in memory is counted as this part of the texts.
        let byCost = Double(max(0, kept.excess(of: .held))) * Double(held) / Double(cost)
        let byText =
            shared.totals.heldByteCount.load(ordering: .relaxed) + centers.heldGrowthOfTurn
            - context.configuration.heldByteLimit
        let excess = max(byText, Int(byCost.rounded(.up)))
        guard excess > 0, held > 0 else { return false }
        context.meet(.held)
        let rest = max(0, held - min(excess, Self.heldTrimByteCount))
        tell(.trimHeld(byteCount: rest), to: position, &context)
        centers.noteKept(at: position)
        kept.account(for: &centers, &context)
        let hasTrimmed =
            centers[position].heldByteCount < held || centers.isDoing(.trim, at: position)
        let isMuch = excess > Self.heldTrimByteCount || centers[position].heldByteCount > rest
        return hasTrimmed && (isMuch || kept.excess(of: .held) > 0)
    }

    /// Trims an owner's kind over its share: the center that keeps most of it forgets the oldest.
    mutating func trimShare(_ trim: Trim, _ context: inout LoopContext) {
        guard kept.excess(of: trim.kind, for: trim.owner, &context) > 0,
            let position = centers.largestKeeper(of: trim.kind, for: trim.owner)
        else { return }
        if centers.isDoing(.trim, at: position) {
            return kept.trimLater(trim.kind, of: trim.owner, &context)
        }
        context.meet(.shares)
        let before = centers.kept(trim.kind, at: position, for: trim.owner)
        let action =
            switch trim.kind {
            case .held, .keys: Command.Action.trimOwned(trim.kind, trim.owner)
            case .observers, .channels, .replay, .fates, .tombstones, .queue, .archives:
                centers.trimAction(trim.kind, at: position)
            }
        tell(action, to: position, &context)
        centers.noteKept(at: position)
        let hasTrimmed =
            centers.kept(trim.kind, at: position, for: trim.owner) < before
            || centers.isDoing(.trim, at: position)
        kept.account(for: &centers, &context)
        if hasTrimmed, kept.excess(of: trim.kind, for: trim.owner, &context) > 0 {
            kept.trimLater(trim.kind, of: trim.owner, &context)
        }
    }
}
