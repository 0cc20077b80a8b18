import BelfryCenter

extension CenterBench {
    /// A center in which so many timers wait, each with an object of its own.
    init(timerCount: Int) {
        var limits = CenterLimits()
        limits.timerLimit = 10_000_000
        self.init(limits: limits)
        for _ in 0..<timerCount { setTimer() }
    }

    /// Sets a timer that is due at some time of the next day, and tells which it is.
    @discardableResult
    mutating func setTimer() -> NotificationID {
        // Times without an order, which are the same in each run.
        let seconds = Int64(postCount &* 2_654_435_761 % 86_400) + 1
        let timing = TimerTerms(start: .after(seconds * 1_000_000_000))
        let content = Notification.Content(
            name: Array("Reminder".utf8), object: Array("o\(postCount)".utf8), userInfo: nil)
        post(content, options: PostOptions(style: .asap, timer: timing))
        return lastID
    }
}

/// Sets a timer and takes it out again, beside so many that wait.
struct Timing: Work {
    private var bench: CenterBench

    init(timerCount: Int) {
        bench = CenterBench(timerCount: timerCount)
    }

    mutating func run(_ count: Int) {
        for _ in 0..<count {
            let id = bench.setTimer()
            bench.apply(.dequeueEntry(id, scope: .everything))
        }
        use(bench.effects.changes.count)
    }
}

/// Sets timers that wait.
struct Waiting: Work {
    private var bench = CenterBench(timerCount: 0)

    mutating func run(_ count: Int) {
        for _ in 0..<count { bench.setTimer() }
        use(bench.effects.receipts.count)
    }
}
