extension NotificationCenter {
    /// The counts of the state that a client may come back for.
    public var use: CenterUse {
        CenterUse(
            clientCount: clients.count, observerCount: observers.count, queueCount: queue.count,
            timerCount: timers.count, heldCount: held.notificationCount, modeCount: modeStack.count,
            askCount: asks.count + askFates.storedCount,
            valueCount: values.count, keyCount: keys.count)
    }
}
