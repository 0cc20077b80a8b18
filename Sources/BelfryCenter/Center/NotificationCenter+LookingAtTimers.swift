import BelfryBytes

// Reading timers, which changes nothing.

extension NotificationCenter {
    /// How many timers wait.
    public var timerCount: Int { timers.count }

    /// The timers in due order; farewells of connected clients come last.
    ///
    /// - Parameters:
    ///   - cursor: The number of timers to skip.
    ///   - limit: The most rows of the page.
    ///   - scanLimit: The most timers to examine, if fewer than usual.
    ///   - visible: The filters that the caller may see.
    public func timers(
        after cursor: UInt64, limit: Int, scanLimit: Int = .max, visible: Visibility
    ) -> Page<QueueEntryRow> {
        var page = Page<QueueEntryRow>()
        guard let start = Int(exactly: cursor) else { return page }
        var seenCount = 0
        timers.order.forEach(from: start) { item in
            guard page.rows.count < max(limit, 1),
                seenCount < min(max(scanLimit, 1), Self.pageScanLimit)
            else {
                page.next = cursor + UInt64(seenCount)
                return false
            }
            seenCount += 1
            let row = row(ofTimer: item.slot)
            if visible(row.content.nameText, row.content.objectText) { page.rows.append(row) }
            return true
        }
        return page
    }

    /// A timer, if it waits.
    public func timer(_ id: NotificationID) -> QueueEntryRow? {
        timers.slot(of: id).map { row(ofTimer: $0) }
    }

    func row(ofTimer slot: UInt32) -> QueueEntryRow {
        let timer = timers[slot]
        let options = timer.details?.options
        return QueueEntryRow(
            id: timer.id, content: timer.content, style: options?.style ?? .asap,
            coalescing: options?.coalescing ?? [.onName, .onSender],
            modes: options?.modes ?? [Mode.default], mergedCount: 0, enqueuedAt: timer.postedAt,
            timer: QueueEntryRow.Timing(
                dueAt: timer.dueAt == .max ? nil : timer.dueAt,
                client: timer.isFarewell ? timer.details?.client : nil,
                repetition: timers.repetition(at: slot).map {
                    QueueEntryRow.Timing.Repetition(
                        period: $0.period, fired: $0.fired, missed: $0.missed)
                }))
    }
}
