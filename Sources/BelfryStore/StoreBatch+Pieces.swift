internal import BelfryCenter

// A turn that removes ten thousand rows may change as many pages, for which no ballast has room at
// once.

extension StoreBatch {
    /// The batch in pieces that are committed one by one.
    ///
    /// Each of them is no heavier than the limit, as far as the batch can be cut.
    ///
    /// It is cut between two removals alone: a crash between two pieces is one between two
    /// requests, of which the second had no answer.
    func pieces(weightLimit: Int) -> [StoreBatch] {
        guard weight > weightLimit else { return [self] }
        var pieces: [StoreBatch] = []
        var piece: [StoreChange] = []
        var weight = 0
        for change in changes {
            guard case .center(let name, let changes) = change else {
                piece.append(change)
                weight += change.weight
                continue
            }
            var start = 0
            let canBeCut = changes.placesToCut()
            for place in changes.indices {
                let more = changes[place].weight
                if weight + more > weightLimit, canBeCut[place] {
                    piece.append(.center(name: name, changes: Array(changes[start..<place])))
                    pieces.append(
                        StoreBatch(loop: loop, ticket: ticket, changes: piece, endsTurn: false))
                    (piece, weight, start) = ([], 0, place)
                }
                weight += more
            }
            piece.append(.center(name: name, changes: Array(changes[start...])))
        }
        pieces.append(StoreBatch(loop: loop, ticket: ticket, changes: piece, endsTurn: endsTurn))
        return pieces
    }
}

extension Change {
    /// The kind of a removal.
    fileprivate enum Removal {
        case observer, held, queued, timer, ask, value, key, archived
    }

    fileprivate var removal: Removal? {
        switch self {
        case .observerRemoved: .observer
        case .released, .actionReleased, .notificationReleased: .held
        case .dequeued: .queued
        case .timerEnded: .timer
        case .askForgotten: .ask
        case .valueRemoved: .value
        case .keyForgotten: .key
        case .letGo, .archivedKindForgotten: .archived
        case .center, .sequenceReserved, .client, .clientRemoved, .observer, .notification, .held,
            .action, .gap, .queued, .timer, .ask, .value, .key, .archive, .archiveRemoved,
            .archivedKind, .kept:
            nil
        }
    }
}

extension [Change] {
    /// For each place, whether the changes before it may be committed without the ones from it on.
    fileprivate func placesToCut() -> [Bool] {
        var canBeCut = [Bool](repeating: false, count: count)
        /// The change behind the row of removals of one kind; nil at the end.
        var follower: Change?
        for place in indices.dropFirst().reversed() {
            let removal = self[place].removal
            if place + 1 == count || self[place + 1].removal != removal {
                follower = place + 1 < count ? self[place + 1] : nil
            }
            canBeCut[place] = self[place].canBeCut(
                behind: self[place - 1], followed: follower)
        }
        return canBeCut
    }
}

extension Change {
    fileprivate func canBeCut(behind previous: Change, followed follower: Change?) -> Bool {
        switch (previous.removal, self) {
        case (.observer, .observerRemoved), (.observer, .released), (.observer, .actionReleased),
            (.ask, .askForgotten), (.value, .valueRemoved), (.key, .keyForgotten),
            (.archived, .letGo):
            return true
        case (.held, .released), (.held, .actionReleased):
            // The held notifications of an observer go together with it.
            return follower?.removal != .observer
        case (.queued, .dequeued), (.timer, .timerEnded):
            // A change that replaces all of them must not be missing.
            return follower == nil || follower?.removal != nil
        default:
            return false
        }
    }
}
