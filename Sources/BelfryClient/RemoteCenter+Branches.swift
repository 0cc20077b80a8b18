internal import Synchronization

// Observers that begin in the past, each on a connection of its own.

/// The own connections of observers, for as long as somebody has the observers.
struct Branches {
    /// One connection.
    struct Branch {
        weak var center: RemoteCenter?
    }

    private var all: [Branch] = []
    /// Whether their client asked to be suspended.
    var isSuspended = false

    /// Those that are still there.
    var centers: [RemoteCenter] { all.compactMap(\.center) }

    /// Adds one, and forgets those that have gone.
    mutating func add(_ center: RemoteCenter) {
        all.removeAll { $0.center == nil }
        all.append(Branch(center: center))
    }

    /// Forgets all.
    mutating func removeAll() {
        all.removeAll()
    }
}

extension RemoteCenter {
    /// Registers an observer on a connection of its own, which ends with the observer.
    func addObserverApart(
        for filter: NotificationFilter, _ selector: String?, _ since: Beginning?,
        _ options: ObserverOptions
    ) async throws(ClientError) -> Observation {
        var own = self.options
        own.bufferCountLimit = .max
        let branch = try Self.make(url, own, token)
        let isSuspended = branches.withLock { branches in
            branches.add(branch)
            return branches.isSuspended
        }
        if own.reconnects {
            branch.door.submit(.open(nil))
        } else {
            try await branch.submit { .open($0) }
        }
        if isSuspended { try await branch.setSuspended(true) }
        var options = options
        options.ownsConnection = false
        var observation = try await branch.addObserver(
            for: filter, selector: selector ?? nextSelector(), since: since, options: options)
        observation.remove = { () async throws(ClientError) in await branch.close() }
        return observation
    }

    /// Notes whether the client is suspended, and returns its other connections.
    func setBranchesSuspended(_ isSuspended: Bool) -> [RemoteCenter] {
        branches.withLock { branches in
            branches.isSuspended = isSuspended
            return branches.centers
        }
    }

    /// Forgets the other connections, and returns them.
    func takeBranches() -> [RemoteCenter] {
        branches.withLock { branches in
            defer { branches.removeAll() }
            return branches.centers
        }
    }
}
