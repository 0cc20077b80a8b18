/// A stage of a broker in a log, with the facts that hold in that stage alone.
enum Phase {
    case loading(askedAt: Int64)
    case catchingUp
    case comingUp
    case up
    /// The end of the life is announced once all commands before it are in the log.
    case leaving(isAnnounced: Bool)
    case left
    case recovering(Recovery)
    case stopped(StopReason)

    /// The stage without those facts.
    var stage: Stage {
        switch self {
        case .loading: .loading
        case .catchingUp: .catchingUp
        case .comingUp: .comingUp
        case .up: .up
        case .leaving: .leaving
        case .left: .left
        case .recovering: .recovering
        case .stopped(let reason): .stopped(reason)
        }
    }
}
