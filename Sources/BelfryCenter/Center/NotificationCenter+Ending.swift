extension NotificationCenter {
    /// The counts of the state that a client may come back for.
    public var use: CenterUse {
        CenterUse(
            clientCount: registry.clients.count, observerCount: registry.observers.count,
            queueCount: schedule.queue.count,
            timerCount: schedule.timers.count, heldCount: backlog.held.notificationCount,
            modeCount: schedule.modeStack.count,
            askCount: asks.open.count + asks.fates.storedCount,
            valueCount: values.count, keyCount: history.keys.count,
            archiveCount: archiveBox.value.slots.count { $0.isOfUse })
    }
}
