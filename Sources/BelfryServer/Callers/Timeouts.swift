import BelfrySystem

/// The timeouts of a configuration in nanoseconds: a `Duration` divides 128-bit numbers each time.
struct Timeouts {
    private let head: Int64
    private let body: Int64
    private let idle: Int64
    private let ping: Int64
    private let pong: Int64
    private let comment: Int64
    private let answer: Int64
    private let copy: Int64
    private let slow: Int64
    /// The longest time that a request may wait, in nanoseconds.
    let maxWait: Int64

    init(_ configuration: ServerConfiguration) {
        head = configuration.headTimeout.nanoseconds
        body = configuration.bodyTimeout.nanoseconds
        idle = configuration.idleTimeout.nanoseconds
        ping = configuration.pingInterval.nanoseconds
        pong = configuration.pongTimeout.nanoseconds
        comment = configuration.commentInterval.nanoseconds
        answer = configuration.maxWait.nanoseconds + configuration.idleTimeout.nanoseconds
        copy = configuration.storeAnswerTimeout.nanoseconds
        slow = configuration.slowTimeout.nanoseconds
        maxWait = configuration.maxWait.nanoseconds
    }

    /// The time of a deadline of this kind, counted from `now`.
    func deadline(_ kind: Connection.DeadlineKind, from now: MonotonicTime) -> MonotonicTime {
        let nanoseconds =
            switch kind {
            case .head: head
            case .body, .drain: body
            case .idle: idle
            case .ping: ping
            case .pong: pong
            case .comment: comment
            case .answer: answer
            case .copy: copy
            case .slow: slow
            }
        let (sum, overflow) = now.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
    }
}
