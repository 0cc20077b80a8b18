import BelfryCenter

extension Effects {
    /// Adds gaps of unknown size for a position of another life of the center (decision 21).
    mutating func tellForeignPosition(
        of observers: [ObserverRow], _ client: ClientRow, at sequence: UInt64
    ) {
        notices.removeAll { notice in
            if case .gap(_, _, let gap) = notice { gap.reason == .unknown } else { false }
        }
        for row in observers {  // Bound: client
            let gap = Gap(
                observer: row.serial, selector: row.selector, lostCount: nil, firstSequence: 0,
                lastSequence: sequence, reason: .unknown)
            notices.append(
                .gap(connection: client.connection, transport: client.transport, gap))
        }
    }
}
