@testable import BelfryCenter

/// The promises of a center without suspension and queue, written plainly.
///
/// It can be checked by reading: every post looks at every observer.
struct NaiveCenter {
    struct Observer {
        let serial: UInt64
        let client: UInt64
        let name: [UInt8]?
        let object: [UInt8]?
        let selector: [UInt8]
        let since: UInt64
        var delivered: UInt64 = 0

        func matches(name postedName: [UInt8], object postedObject: [UInt8]?) -> Bool {
            if let name, name != postedName { return false }
            if let object, object != postedObject { return false }
            return true
        }
    }

    /// A delivery without the numbers that only the real center has.
    struct Row: Equatable {
        let connection: UInt64
        let observer: UInt64
        let sequence: UInt64
        let selector: [UInt8]
        let isRedelivered: Bool
    }

    let limits: CenterLimits
    private(set) var sequence: UInt64 = 0
    private(set) var observers: [Observer] = []
    private(set) var clients: [UInt64: UInt64] = [:]
    private(set) var tombstones: [(serial: UInt64, remover: Remover, reason: RemovalReason)] = []
    private(set) var history: [Notification] = []
    private var depths: [NotificationID: Int] = [:]
    private(set) var outcome = Outcome.done
    private(set) var rows: [Row] = []
    private(set) var matchedCounts: [UInt32] = []
    private(set) var gaps: [(observer: UInt64, first: UInt64, last: UInt64)] = []

    init(limits: CenterLimits) { self.limits = limits }

    mutating func apply(_ action: Command.Action) {
        outcome = .done
        rows = []
        matchedCounts = []
        gaps = []
        switch action {
        case .configure: break
        case .connect(let client, let registrations, let since):
            clients[client.id] = client.connection.number
            register(registrations, client: client.id, since: since)
        case .addObserver(let registration, let client, let since):
            register([registration], client: client, since: since)
        case .post(let post, _): dispatch([post])
        case .postBatch(let posts, _): dispatch(posts)
        case .disconnect(let client, let connection, _, _, _):
            if clients[client] == connection.number {
                removeClient(client, .broker, .connectionClosed)
            }
        case .removeClient(let client, let remover):
            removeClient(client, remover, .clientRemoved)
        case .removeObserver(let serial, let remover): removeObserver(serial, remover)
        case .removeObservers(let client, let filter):
            removeObservers(client, filter.name, filter.object)
        case .resume, .onConnection, .within, .setSuspended, .becomeSlow, .drain, .acknowledge,
            .readMailbox, .attachStream, .detachReader, .dequeue, .dequeueEntry, .enterMode,
            .leaveMode, .endTurn, .idle, .passTime, .terminate, .trimHeld, .trim, .trimOwned,
            .ask, .withdraw, .leaveAsk, .answer, .showAnnounced, .setValue, .mergeValue,
            .removeValue, .putArchive, .removeArchive, .forget:
            preconditionFailure("a plain source makes none of these")
        }
    }

    /// The notifications that the replay ring still has.
    var kept: ArraySlice<Notification> {
        var kept = history.suffix(limits.replayCountLimit)
        while kept.map(\.content.byteCount).reduce(0, +) > limits.replayByteLimit {
            kept.removeFirst()
        }
        return kept
    }

    private mutating func register(
        _ registrations: [ObserverRegistration], client: UInt64, since: UInt64?
    ) {
        guard let connection = clients[client] else {
            outcome = .refused(.unknownClient)
            return
        }
        let count = observers.filter { $0.client == client }.count
        guard count + registrations.count <= limits.clientObserverLimit else {
            outcome = .refused(.tooManyObservers(limit: limits.clientObserverLimit))
            return
        }
        let firstNew = observers.count
        for registration in registrations {
            observers.append(
                Observer(
                    serial: registration.serial, client: client, name: registration.name,
                    object: registration.object, selector: registration.selector,
                    since: sequence))
        }
        guard let since, since < sequence else { return }
        let firstKept = kept.first?.sequence ?? sequence + 1
        for place in firstNew..<observers.count where since + 1 < firstKept {
            gaps.append((observers[place].serial, since + 1, firstKept - 1))
        }
        for notification in kept where notification.sequence > since {
            deliver(notification, to: firstNew..<observers.count, connection, isRedelivered: true)
        }
    }

    private mutating func dispatch(_ posts: [Post]) {
        var batchDepths = depths
        for (place, post) in posts.enumerated() {
            let depth = post.causedBy.map { (batchDepths[$0] ?? 1) + 1 } ?? 1
            guard depth <= limits.causedByDepthLimit else {
                outcome = .refused(
                    .causedByTooDeep(limit: limits.causedByDepthLimit, post: place))
                return
            }
            batchDepths[post.id] = depth
        }
        depths = batchDepths
        for post in posts {
            sequence += 1
            let notification = Notification(
                id: post.id, sequence: sequence, postedAt: 0, causedBy: post.causedBy,
                content: post.content)
            history.append(notification)
            let before = rows.count
            deliver(notification, to: observers.indices, nil, isRedelivered: false)
            matchedCounts.append(UInt32(rows.count - before))
        }
    }

    private mutating func deliver(
        _ notification: Notification, to places: Range<Int>, _ connection: UInt64?,
        isRedelivered: Bool
    ) {
        let name = notification.content.nameBytes
        let object = notification.content.objectBytes
        for place in places where observers[place].matches(name: name, object: object) {
            observers[place].delivered += 1
            rows.append(
                Row(
                    connection: connection ?? clients[observers[place].client] ?? 0,
                    observer: observers[place].serial, sequence: notification.sequence,
                    selector: observers[place].selector, isRedelivered: isRedelivered))
        }
    }

    private mutating func remove(
        _ remover: Remover, _ reason: RemovalReason, where isGone: (Observer) -> Bool
    ) {
        let gone = observers.filter(isGone)
        observers.removeAll(where: isGone)
        for observer in gone { tombstones.append((observer.serial, remover, reason)) }
        tombstones.removeFirst(max(0, tombstones.count - limits.tombstoneLimit))
        outcome = .removed(gone.count)
    }

    private mutating func removeObserver(_ serial: UInt64, _ remover: Remover) {
        if observers.contains(where: { $0.serial == serial }) {
            remove(remover, .removed) { $0.serial == serial }
        } else if !tombstones.contains(where: { $0.serial == serial }) {
            outcome = .refused(.unknownObserver)
        }
    }

    private mutating func removeObservers(_ client: UInt64, _ name: [UInt8]?, _ object: [UInt8]?) {
        guard clients[client] != nil else {
            outcome = .refused(.unknownClient)
            return
        }
        remove(.client(client), .removed) { observer in
            observer.client == client && (name != nil || object != nil)
                && (name == nil || name == observer.name)
                && (object == nil || object == observer.object)
        }
    }

    private mutating func removeClient(
        _ client: UInt64, _ remover: Remover, _ reason: RemovalReason
    ) {
        guard clients.removeValue(forKey: client) != nil else {
            outcome = .refused(.unknownClient)
            return
        }
        remove(remover, reason) { $0.client == client }
    }
}
