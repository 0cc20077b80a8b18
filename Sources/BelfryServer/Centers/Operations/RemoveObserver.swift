import BelfryAccess
import BelfryCenter
import BelfryWire

/// The removal of one observer, by its token or its owner.
struct RemoveObserver: Operation {
    static let answersFirst = false
    let target: Target
    private var serial: UInt64 = 0

    /// The observer, and the right to remove it.
    enum Target {
        /// A request names it: by its token, or as an admin by its number alone.
        case path(Secret)
        /// A call has its token.
        case token(Secret, client: UInt64)
        /// A call names an observer of the client.
        case own(UInt64, client: UInt64)
    }

    init(_ target: Target) {
        self.target = target
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        let remover: Remover
        let position: Int
        switch target {
        case .path(let secret):
            position = try host.centers.observer(secret, orBy: .admin, submission).position
            serial = secret.number
            remover = .principal(submission.caller.principal)
        case .token(let secret, let client):
            position = try host.centers.positionOfObservers(submission)
            serial = secret.number
            let row = host.centers[position].observer(serial)
            let hash = row?.tokenHash ?? host.centers[position].tombstone(serial)?.tokenHash
            guard let hash, let text = secret.secret, SecretHash(of: text).matches(hash) else {
                throw Problem.noObserver
            }
            remover = .client(client)
        case .own(let number, let client):
            position = try host.centers.positionOfObservers(submission)
            guard host.centers[position].observer(number)?.client == client else {
                throw Problem.noObserver
            }
            serial = number
            remover = .client(client)
        }
        host.submitCommand(.removeObserver(serial: serial, by: remover), to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        if context.configuration.loopCount > 1 { host.shared.removedObservers.insert(serial) }
        if case .path = target {
            answer.becomeEmpty()
        } else {
            Shape.append(removedCount: 1, to: &answer.content)
        }
        return .answered
    }
}

/// The removal of all observers of a client that were registered in one way.
struct RemoveObservers: Operation {
    static let answersFirst = true
    let client: UInt64
    let filter: ObserverFilter

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        let position = try host.centers.positionOfObservers(submission)
        if filter.terms != nil {
            try host.centers.check(Shard.levelFive, of: "prefixes, sets of names and conditions")
        }
        host.submitCommand(.removeObservers(client: client, filter), to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        var count = 0
        if case .removed(let removed) = host.effects.outcome { count = removed }
        Shape.append(removedCount: count, to: &answer.content)
        return .answered
    }
}
