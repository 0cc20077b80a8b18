import BelfryNATS

// How a journal loads the last whole snapshot: it sends what its loader asks.

extension NATSJournal {
    /// Asks for the last snapshot; one on its way is awaited for as long as pieces of it come.
    public func load() {
        guard progress == .ready else { return }
        carryOut(loader.begin())
    }

    func receiveLast(_ message: Message, of number: UInt64) {
        guard loader.awaitsManifest(of: number), let answer = try? DirectAnswer(message)
        else { return }
        carryOut(loader.receiveManifest(answer, message.payload))
    }

    func receivePart(_ message: Message, of number: UInt64, at place: UInt64) {
        guard loader.awaitsPiece(place, of: number), let answer = try? DirectAnswer(message)
        else { return }
        carryOut(loader.receivePiece(answer, message.payload, at: place))
    }

    /// Carries out the next step of the load; nil leaves it to the next answer, or request.
    private func carryOut(_ step: SnapshotLoader.Step?) {
        switch step {
        case .askManifest?:
            ask(
                .directGetLast(names.snapshots, names.wholeSubject), .last(load: loader.number))
        case .askPieces(let pieces)?:
            for (place, sequence) in pieces {
                ask(
                    .directGetMessage(names.snapshots, sequence),
                    .part(load: loader.number, place: place))
            }
        case .report(let snapshot)?: events.append(.snapshot(snapshot))
        case nil: break
        }
    }
}
