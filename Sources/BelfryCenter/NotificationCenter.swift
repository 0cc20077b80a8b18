/// A notification center: observers, one order, and what it remembers of the past.
///
/// It is a pure machine. It changes only through ``apply(_:at:into:)``; it reads no clock, makes no
/// random number, and names connections by number. The same commands in the same order give the
/// same state and the same effects on every machine, in a simulator and after a restart.
///
/// The path of one post: count it for its channel, find the buckets, stamp the sequence number, walk
/// the matching observers in registration order, write one ``Delivery`` for each, keep the
/// notification for replay and its receipt as its fate.
public struct NotificationCenter: Sendable {
    /// The name of the center, as it stands in URLs.
    public let name: [UInt8]
    /// What makes sequence numbers of this life of the center different from those of others.
    public let epoch: [UInt8]
    /// The sequence number of the last notification that was dispatched.
    public private(set) var sequence: UInt64 = 0
    /// The index of the last command that was applied.
    public private(set) var appliedIndex: UInt64 = 0
    /// The limits that it keeps.
    public private(set) var limits: CenterLimits

    var clients = ClientTable()
    var observers = ObserverTable()
    var index: ObserverIndex
    var selectors: SelectorTable
    var tombstones = TombstoneTable()
    var replay = ReplayRing()
    var fates: FateTable

    /// Makes a center that has nothing.
    ///
    /// - Parameters:
    ///   - name: the name as it stands in URLs.
    ///   - epoch: text that no other life of this center has.
    ///   - limits: the limits to keep until a `configure` command changes them.
    ///   - seed: the secret of this process for its hash tables; it never shows.
    public init(name: [UInt8], epoch: [UInt8], limits: CenterLimits, seed: HashSeed) {
        self.name = name
        self.epoch = epoch
        self.limits = limits
        index = ObserverIndex(seed: seed, unobservedNameLimit: limits.unobservedNameLimit)
        selectors = SelectorTable(seed: seed)
        fates = FateTable(seed: seed)
    }

    /// Changes the center, and writes into `effects` what that brings about.
    ///
    /// A command that is refused changes nothing but the applied index.
    ///
    /// - Parameters:
    ///   - command: what to do.
    ///   - index: the place of the command in the log; each is one above the one before.
    ///   - effects: emptied first; its storage is used again.
    public mutating func apply(
        _ command: borrowing Command, at index: UInt64, into effects: inout Effects
    ) {
        precondition(index == appliedIndex + 1, "commands are applied in the order of their log")
        appliedIndex = index
        effects.reset()
        do throws(Refusal) {
            try perform(command.action, at: command.time, into: &effects)
        } catch {
            effects.reset()
            effects.outcome = .refused(error)
        }
    }

    /// The text of a selector that a delivery names.
    public func selector(_ selector: UInt32) -> [UInt8] { selectors.text(of: selector) }

    private mutating func perform(
        _ action: borrowing Command.Action, at time: CommandTime, into effects: inout Effects
    ) throws(Refusal) {
        switch action {
        case .configure(let limits):
            self.limits = limits
            index.configure(unobservedNameLimit: limits.unobservedNameLimit)
            tombstones.trim(to: limits.tombstoneLimit)
            replay.trim(to: limits)
            fates.trim(to: limits, at: time.monotonicNanoseconds)
        case .connect(let client, let registrations, let since):
            try connect(client, registrations, since: since, at: time, into: &effects)
        case .disconnect(let client, _):
            try removeClient(client, by: .broker, reason: .connectionClosed, at: time, &effects)
        case .post(let post, _):
            let depth = post.causedBy == nil ? 1 : try depth(of: post, place: 0, inBatch: [:])
            dispatch(post, depth: depth, at: time, into: &effects)
        case .postBatch(let posts, _):
            try dispatch(posts, at: time, into: &effects)
        case .addObserver(let registration, let client, let since):
            let rows = try register([registration], client: client, since: since, time, &effects)
            effects.outcome = .registered(rows)
        case .removeObserver(let serial, let remover):
            try removeObserver(serial, by: remover, at: time, into: &effects)
        case .removeObservers(let client, let name, let object):
            try removeObservers(of: client, name: name, object: object, at: time, into: &effects)
        case .removeClient(let client, let remover):
            try removeClient(client, by: remover, reason: .clientRemoved, at: time, &effects)
        case .resume, .setSuspended, .becomeSlow, .drain, .acknowledge, .readMailbox, .attachReader,
            .detachReader, .dequeue, .dequeueEntry, .enterMode, .leaveMode, .endTurn, .idle, .passTime,
            .terminate, .trimHeld:
            break
        }
    }
}

// MARK: - Posting

extension NotificationCenter {
    private mutating func dispatch(
        _ posts: [Post], at time: CommandTime, into effects: inout Effects
    ) throws(Refusal) {
        // All are decided before the first is dispatched; a cause may stand in the same batch.
        let hasCauses = posts.contains { $0.causedBy != nil }
        var depths: [Int] = []
        depths.reserveCapacity(posts.count)
        var inBatch: [NotificationID: Int] = [:]
        for place in posts.indices {
            let depth = try depth(of: posts[place], place: place, inBatch: inBatch)
            depths.append(depth)
            if hasCauses { inBatch[posts[place].id] = depth }
        }
        for place in posts.indices {
            dispatch(posts[place], depth: depths[place], at: time, into: &effects)
        }
    }

    /// How long the chain of `causedBy` is with this post at its end (rule C12).
    private func depth(
        of post: Post, place: Int, inBatch: [NotificationID: Int]
    ) throws(Refusal) -> Int {
        guard let cause = post.causedBy else { return 1 }
        let depth = (inBatch[cause] ?? fates.depth(of: cause) ?? 1) + 1
        guard depth <= limits.causedByDepthLimit else {
            throw .causedByTooDeep(limit: limits.causedByDepthLimit, post: place)
        }
        return depth
    }

    private mutating func dispatch(
        _ post: Post, depth: Int, at time: CommandTime, into effects: inout Effects
    ) {
        sequence += 1
        let notification = Notification(
            id: post.id, sequence: sequence, postedAt: time.wallMilliseconds,
            causedBy: post.causedBy, content: post.content)
        let channel = index.countPost(name: post.content.name, at: time.wallMilliseconds)
        let buckets = index.buckets(channel: channel, object: post.content.object)
        let deliveredBefore = effects.deliveries.count
        if buckets.count > 0 {
            deliver(buckets, notification: UInt32(effects.notifications.count), time, &effects)
        }
        effects.notifications.append(notification)
        let delivered = UInt32(effects.deliveries.count - deliveredBefore)
        if delivered > 0 { index.noteMatch(channel: channel) }
        var receipt = Receipt(id: post.id, sequence: sequence)
        receipt.matched = delivered
        receipt.delivered = delivered
        effects.receipts.append(receipt)
        replay.append(notification, limits: limits)
        fates.append(receipt, depth: depth, at: time.monotonicNanoseconds, limits: limits)
    }

    /// Writes one delivery for each observer in the buckets, in registration order.
    private mutating func deliver(
        _ buckets: ObserverIndex.Buckets, notification: UInt32, _ time: CommandTime,
        _ effects: inout Effects
    ) {
        index.forEachSlot(in: buckets) { slot in
            let client = observers.noteDelivery(at: slot, time.wallMilliseconds)
            let route = clients.route(at: client)
            effects.deliveries.append(
                Delivery(
                    connection: route.connection, observer: observers[slot].serial,
                    notification: notification, selector: observers[slot].selector,
                    transport: route.transport, form: .shared, isRedelivered: false))
        }
    }
}

// MARK: - Registering

extension NotificationCenter {
    private mutating func connect(
        _ registration: ClientRegistration, _ observers: [ObserverRegistration], since: UInt64?,
        at time: CommandTime, into effects: inout Effects
    ) throws(Refusal) {
        guard observers.count <= limits.clientObserverLimit else {
            throw .tooManyObservers(limit: limits.clientObserverLimit)
        }
        clients.add(registration, at: time.wallMilliseconds)
        let rows = try register(observers, client: registration.id, since: since, time, &effects)
        effects.outcome = .registered(rows)
    }

    private mutating func register(
        _ registrations: [ObserverRegistration], client: UInt64, since: UInt64?,
        _ time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) -> [ObserverRow] {
        guard let clientSlot = clients.slot(of: client) else { throw .unknownClient }
        guard
            clients[clientSlot].observerCount + registrations.count <= limits.clientObserverLimit
        else { throw .tooManyObservers(limit: limits.clientObserverLimit) }
        var slots: [UInt32] = []
        for registration in registrations {
            slots.append(add(registration, clientSlot: clientSlot, at: time.wallMilliseconds))
        }
        if let since {
            replayNotifications(above: since, to: slots, at: time.wallMilliseconds, &effects)
        }
        return slots.map { row(ofSlot: $0) }
    }

    private mutating func add(
        _ registration: ObserverRegistration, clientSlot: UInt32, at time: Int64
    ) -> UInt32 {
        let slot = observers.reserveSlot()
        let place = index.add(
            name: registration.name, object: registration.object, serial: registration.serial,
            slot: slot)
        let observer = ObserverTable.Observer(
            serial: registration.serial, tokenHash: registration.tokenHash, client: clientSlot,
            place: place, selector: selectors.retain(registration.selector), since: sequence,
            createdAt: time)
        observers.fill(slot, with: observer, after: clients[clientSlot].lastObserver)
        clients.noteObserver(slot, at: clientSlot)
        return slot
    }

    /// Gives new observers what the replay ring has above a sequence number, and tells what it lacks.
    private mutating func replayNotifications(
        above since: UInt64, to slots: [UInt32], at time: Int64, _ effects: inout Effects
    ) {
        guard since < sequence else { return }
        let firstKept = replay.firstSequence ?? sequence + 1
        for slot in slots where since + 1 < firstKept {
            let observer = observers[slot]
            let route = clients.route(at: observer.client)
            let gap = Gap(
                observer: observer.serial, selector: selectors.text(of: observer.selector),
                lostCount: nil, firstSequence: since + 1, lastSequence: firstKept - 1,
                reason: .unknown)
            effects.notices.append(
                .gap(connection: route.connection, transport: route.transport, gap))
        }
        guard let firstSlot = slots.first else { return }
        // The new observers have the highest serial numbers: what others have in the buckets is
        // not even looked at, so the cost does not grow with observers times notifications.
        let firstSerial = observers[firstSlot].serial
        replay.forEach(above: since) { notification in
            let position = UInt32(effects.notifications.count)
            let deliveredBefore = effects.deliveries.count
            let channel = index.channels.index(of: notification.content.name)
            let buckets = index.buckets(
                channel: channel ?? ObserverIndex.noList, object: notification.content.object)
            index.forEachSlot(in: buckets, from: firstSerial) { slot in
                let client = observers.noteDelivery(at: slot, time)
                let route = clients.route(at: client)
                effects.deliveries.append(
                    Delivery(
                        connection: route.connection, observer: observers[slot].serial,
                        notification: position, selector: observers[slot].selector,
                        transport: route.transport, form: .shared, isRedelivered: true))
                return true
            }
            if effects.deliveries.count > deliveredBefore {
                effects.notifications.append(notification)
            }
        }
    }
}

// MARK: - Removing

extension NotificationCenter {
    private mutating func removeObserver(
        _ serial: UInt64, by remover: Remover, at time: CommandTime, into effects: inout Effects
    ) throws(Refusal) {
        guard let slot = observers.slot(of: serial) else {
            if let tombstone = tombstones[serial] { throw .observerRemoved(tombstone) }
            throw .unknownObserver
        }
        let client = observers[slot].client
        let tombstone = remove(slot, by: remover, reason: .removed, at: time)
        effects.outcome = .removed(1)
        // The owner hears of it unless it asked for it itself (rules O9 and C11).
        if remover != .client(clients[client].id) {
            let route = clients.route(at: client)
            effects.notices.append(
                .removed(
                    connection: route.connection, transport: route.transport, observer: serial,
                    tombstone))
        }
    }

    /// Compares with the registered filter: removing a name leaves a wildcard alone (rule O3).
    ///
    /// With no criterion nothing is removed (rule O10); the wire refuses such a request before.
    private mutating func removeObservers(
        of client: UInt64, name: [UInt8]?, object: [UInt8]?, at time: CommandTime,
        into effects: inout Effects
    ) throws(Refusal) {
        guard let clientSlot = clients.slot(of: client) else { throw .unknownClient }
        var removedCount = 0
        effects.outcome = .removed(0)
        guard name != nil || object != nil, let wanted = index.place(ofName: name, object: object)
        else { return }
        for slot in observers.slots(from: clients[clientSlot].lastObserver) {
            let place = observers[slot].place
            if name != nil, place.channel != wanted.channel { continue }
            if object != nil, place.object != wanted.object { continue }
            _ = remove(slot, by: .client(client), reason: .removed, at: time)
            removedCount += 1
        }
        effects.outcome = .removed(removedCount)
    }

    private mutating func removeClient(
        _ client: UInt64, by remover: Remover, reason: RemovalReason, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        guard let clientSlot = clients.slot(of: client) else { throw .unknownClient }
        let slots = observers.slots(from: clients[clientSlot].lastObserver)
        for slot in slots { _ = remove(slot, by: remover, reason: reason, at: time) }
        let route = clients.route(at: clientSlot)
        clients.remove(clientSlot)
        effects.outcome = .removed(slots.count)
        if reason == .clientRemoved {
            effects.notices.append(
                .clientRemoved(connection: route.connection, transport: route.transport))
        }
    }

    private mutating func remove(
        _ slot: UInt32, by remover: Remover, reason: RemovalReason, at time: CommandTime
    ) -> Tombstone {
        let observer = observers[slot]
        let tombstone = Tombstone(
            tokenHash: observer.tokenHash, removedAt: time.wallMilliseconds, removedBy: remover,
            reason: reason, name: index.name(of: observer.place),
            object: index.object(of: observer.place))
        index.remove(serial: observer.serial, from: observer.place)
        selectors.release(observer.selector)
        clients.noteRemoval(of: slot, before: observer.previousOfClient, at: observer.client)
        observers.remove(slot)
        tombstones.append(tombstone, serial: observer.serial, limit: limits.tombstoneLimit)
        return tombstone
    }
}
