import BelfryCenter
import BelfryCluster
import BelfryHistory
import TestSupport

// The actions of programs: they come and go, observe, post, and read their frames.

extension ClusterWorld {
    /// A program comes, or goes: in order, or so that its broker does not notice yet.
    func move() {
        guard let place = programs.indices.randomPlace(&dice) else { return }
        guard programs[place].place != nil else { return connect(place) }
        guard now >= stillUntil else { return }
        guard dice.oneIn(3) else { return noticeOneThatLeft() }
        leave(place, isNoticed: !dice.oneIn(3))
    }

    /// The connection of a program breaks.
    func leave(_ place: Int, isNoticed: Bool) {
        guard let at = programs[place].place, let process = nodes[at.node].process,
            let connection = process.connections[at.connection]
        else { return }
        loseTail(of: connection, place)
        process.connections[at.connection]?.written = []
        if isNoticed {
            tell("program \(place) leaves n\(at.node)")
            disconnect(at.connection, endedAt: process.shard.logIndex, process)
        } else {
            tell("program \(place) leaves n\(at.node), which does not notice")
            programs[place].isInDoubt = true
        }
        leavePlace(place)
    }

    /// A broker notices that a connection has ended some time ago.
    private func noticeOneThatLeft() {
        guard let node = dice.pick(nodes), let process = node.process else { return }
        for (number, connection) in process.connections.sorted(by: { $0.key < $1.key }) {
            let at = programs[connection.program].place
            if connection.endedAt == nil, at?.node != node.number || at?.connection != number {
                return disconnect(number, endedAt: process.shard.logIndex, process)
            }
        }
    }

    func leavePlace(_ place: Int) {
        programs[place].place = nil
        programs[place].isReady = false
        programs[place].line = ClusterLine()
        programs[place].owed = []
        for (serial, account) in truth.accounts where account.program == place {
            truth.accounts[serial]?.here = []
        }
    }

    func connect(_ place: Int) {
        let reachable = nodes.filter {
            $0.process?.sequencer.stage == .up && $0.standsStillUntil <= now && $0.cutSince == nil
        }
        guard let node = dice.pick(reachable), let process = node.process else { return }
        makeCenter(programs[place].center, process)
        process.lastConnection += 1
        let number = process.lastConnection
        lastNumber += 1
        let registration = ClientRegistration(
            transport: .webSocket,
            connection: ConnectionName(node: process.sequencer.seat, number: number),
            sessionHash: SecretHash(high: lastNumber, low: 1), principal: [UInt8]("p"))
        let result = submit(
            .tell(
                center: programs[place].center, .connect(registration, observers: [], since: nil)),
            process, for: .connect(connection: number))
        guard case .success = result else { return }
        process.connections[number] = ClusterConnection(program: place)
        programs[place].place = (node.number, number)
        programs[place].isReady = false
    }

    private func makeCenter(_ center: [UInt8], _ process: ClusterProcess) {
        guard process.shard.position(of: center) == nil else { return }
        lastNumber += 1
        submit(.makeCenter(center, epoch: [UInt8]("e\(lastNumber)")), process)
    }

    // MARK: Observers

    private func name() -> [UInt8] {
        if filters.isUsed { return dice.pick(filters.names) ?? [] }
        return [UInt8](["a", "b", "c"][dice.below(3)])
    }

    private func object() -> [UInt8]? {
        filters.isUsed ? dice.pick(filters.objects).flatMap { $0 } : nil
    }

    func register() {
        guard let program = dice.pick(programs.filter(\.isReady)), let client = program.client,
            let at = program.place, let process = nodes[at.node].process,
            process.connections[at.connection]?.client == client
        else { return }
        lastNumber += 1
        var terms = ObserverTerms()
        terms.acknowledges = dice.oneIn(4)
        terms.suspensionBehavior =
            !terms.acknowledges && dice.oneIn(4) ? (dice.oneIn(2) ? .drop : .coalesce) : .hold
        var (name, object): ([UInt8]?, [UInt8]?) = (name(), nil)
        if filters.isUsed, dice.oneIn(2) { object = self.object() }
        var role = ObserverRole.plain
        // A broker asks for the level before it hands such an observer to the log.
        if process.shard.level >= Shard.levelFive,
            let filter = filters.filter(&name, &object, &dice)
        {
            role = .filtered(FilterTerms(filter), target: nil)
            count("observers with filters")
        }
        let registration = ObserverRegistration(
            tokenHash: SecretHash(high: lastNumber, low: 2), name: name, object: object,
            selector: [UInt8]("s"), terms: terms, role: role)
        submit(
            .tell(
                center: program.center,
                .addObserver(registration, client: client, since: nil)), process)
    }

    func removeObserver() {
        if filters.isUsed, dice.oneIn(2) { return removeByFilter() }
        guard let serial = dice.pick(truth.accounts.keys.sorted()),
            let account = truth.accounts[serial], !account.isRemoved,
            let process = dice.pick(nodes)?.process
        else { return }
        let result = submit(
            .tell(
                center: programs[account.program].center,
                .removeObserver(serial: serial, by: .broker)), process)
        if case .success(let id) = result { removals[id] = serial }
    }

    /// A broker removes observers of a client by what their filter has.
    private func removeByFilter() {
        guard let program = dice.pick(programs), let client = program.client,
            let process = dice.pick(nodes)?.process, process.shard.level >= Shard.levelFive,
            let terms = filters.removal(&dice)
        else { return }
        var filter = ObserverFilter()
        filter.terms = FilterTerms(terms)
        let result = submit(
            .tell(center: program.center, .removeObservers(client: client, filter)), process)
        if case .success(let id) = result { filterRemovals[id] = (client, terms) }
    }

    /// Performs the work of a broker's loop.
    func others() {
        guard let process = dice.pick(nodes)?.process else { return }
        submit(.tell(center: Self.centers[dice.below(2)], .idle), process)
    }

    // MARK: Posts

    /// A program posts, over its connection where it has one; else at any broker, or at this one.
    func post(at broker: ClusterNode? = nil) {
        guard let place = programs.indices.randomPlace(&dice) else { return }
        let post = ClusterPost(
            center: programs[place].center,
            key: dice.oneIn(3) ? [UInt8]("k\(posts.count)") : nil)
        var node = broker ?? dice.pick(nodes)
        if programs[place].isReady, let at = programs[place].place,
            broker == nil || at.node == broker?.number
        {
            node = nodes[at.node]
            post.line = (programs[place].line, programs[place].line.count)
        }
        guard let process = node?.process else { return }
        switch dice.below(8) {
        case 0: post.options = PostOptions(style: .asap, coalescing: [])
        case 1:
            post.options = PostOptions(
                style: .asap, coalescing: [],
                timer: TimerTerms(
                    start: .after(Int64(dice.below(5_000)) * 1_000_000), period: nil, lease: nil,
                    replaces: false, isFarewell: false))
        default: break
        }
        if post.options != nil { post.line = nil }
        post.content = HistoryContent(name: name(), object: object(), userInfo: nil)
        if filters.isUsed {
            post.content.userInfo = filters.userInfo(lastNumber, padding: "", &dice)
        }
        posts.append(post)
        attempt(post, process)
        if let line = post.line?.0 { line.count += 1 }
    }

    private func attempt(_ post: ClusterPost, _ process: ClusterProcess) {
        makeCenter(post.center, process)
        lastNumber += 1
        let id = NotificationID(
            high: UInt64(now / 1_000_000) << 16 | 0x7000, low: lastNumber)
        post.ids.append(id)
        postOf[id] = post
        var terms = PostTerms()
        terms.details = PostTerms.Details(
            scope: .everything,
            key: post.key.map {
                IdempotencyKey(
                    principal: [UInt8]("p"), text: $0,
                    requestHash: SecretHash(high: 0, low: 0), form: 0)
            },
            setter: PostTerms.TimerSetter(
                client: nil, principal: TimerRecord.Principal(name: [UInt8]("p"), hasKey: true),
                byteRoom: 1 << 20))
        let result = submit(
            .tell(
                center: post.center,
                .post(
                    Post(
                        id: id,
                        content: Notification.Content(
                            name: post.content.name, object: post.content.object,
                            userInfo: post.content.userInfo),
                        options: post.options), terms)),
            process, for: .post(post, id))
        tell("post \(id.low), key \(post.key?.count ?? 0): \(result)")
        if case .failure = result { post.refusedIDs.append(id) }
    }

    /// Repeats a post with a key whose answer was lost, or said that its outcome is unknown.
    func postAgain() {
        guard let post = dice.pick(posts.suffix(12).filter { $0.key != nil }),
            let process = dice.pick(nodes)?.process
        else { return }
        post.line = nil
        attempt(post, process)
    }

    // MARK: Reading

    /// A program reads what it was written.
    func read(_ place: Int) throws(Violation) {
        guard let at = programs[place].place,
            let written = nodes[at.node].process?.connections[at.connection]?.written
        else { return }
        nodes[at.node].process?.connections[at.connection]?.written = []
        nodes[at.node].process?.connections[at.connection]?.handedCount = 0
        receive(written, place)
        if let problem { throw problem }
        answer(place)
    }

    /// The connection breaks: a program has read a part of what it was written.
    func loseTail(of connection: ClusterConnection, _ place: Int) {
        var count = dice.oneIn(2) ? connection.written.count : dice.below(connection.written.count)
        // A loss that was told is told once, and no program sees a part of a notification (rule
        // D14).
        for (index, frame) in connection.written.enumerated().reversed() {
            if case .gap = frame {
                count = max(count, index + 1)
                break
            }
        }
        while count > 0, count < connection.written.count,
            case .notification(_, let last, _, _) = connection.written[count - 1],
            case .notification(_, let next, _, _) = connection.written[count], last == next
        {
            count += 1
        }
        receive(Array(connection.written[..<count]), place)
        lose(connection.written[count...])
    }

    /// Loses frames of a connection.
    func lose(_ frames: some Sequence<ClusterFrame>) {
        for frame in frames {
            switch frame {
            case .notification(let observer, let sequence, _, _):
                truth.accounts[observer]?.lost.append(sequence...sequence)
            case .gap(let gap):
                truth.accounts[gap.observer]?.lost.append(gap.firstSequence...gap.lastSequence)
            }
        }
    }

    func receive(_ frames: [ClusterFrame], _ place: Int) {
        for frame in frames {
            if case .notification(let o, let q, let r, _) = frame {
                tell("program \(place) reads o\(o) \(q)\(r ? "*" : "")")
            }
        }
        // A log that was put back gives its numbers again.
        if isRewound { return }
        for frame in frames {
            switch frame {
            case .notification(let observer, let sequence, let isRedelivered, let askedAt):
                guard let account = truth.accounts[observer] else {
                    problem = problem ?? fail("o\(observer) is not an observer")
                    continue
                }
                if let last = account.seen.last, sequence <= last, !isRedelivered {
                    problem =
                        problem
                        ?? fail("o\(observer) of program \(place) has \(sequence) after \(last)")
                }
                if sequence <= account.since {
                    problem = problem ?? fail("o\(observer) has \(sequence), from before it")
                }
                truth.accounts[observer]?.seen.append(sequence)
                if let askedAt { noteAsked(sequence, of: observer, at: askedAt, place) }
                count("notifications read")
                programs[place].lastSeen = max(programs[place].lastSeen, sequence)
            case .gap(let gap):
                tell("program \(place) is told \(gap)")
                count("gaps told: \(gap.reason)")
                // The replay ring has all: nothing is unknown to a program that says what it has
                // seen, or was closed in order.
                if gap.reason == .unknown, programs[place].saysSeen || !programs[place].isInDoubt {
                    problem = problem ?? fail("program \(place) is told a needless \(gap)")
                }
                truth.accounts[gap.observer]?.gaps.append(gap)
            }
        }
    }
}

extension Range<Int> {
    fileprivate func randomPlace(_ dice: inout Dice) -> Int? {
        isEmpty ? nil : lowerBound + dice.below(count)
    }
}
