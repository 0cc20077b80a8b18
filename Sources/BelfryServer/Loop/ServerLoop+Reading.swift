import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWire

// The path of input: callers read it, centers perform requests, and connections act on their items.

extension ServerLoop {
    /// Handles one read, and lets other connections go first where that was much work.
    mutating func receive(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        let before = outbox.work.total
        read(id, bytes)
        react()
        if outbox.work.total &- before >= WorkMeter.much { outbox.loop.letOthersGoFirst(id) }
    }

    /// Reads the input of a connection, and performs its requests one after the other.
    private mutating func read(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard var pass = callers.begin(reading: id, bytes, &outbox) else { return }
        while let step = callers.next(&pass, bytes, &outbox) { perform(step, of: id) }
    }

    /// Performs a request of a connection.
    mutating func perform(_ step: consuming CallerStep, of id: ConnectionID) {
        switch consume step {
        case .post(let content, let options):
            post(content, options, of: id)
        case .request:
            submit(callers.takeRequest(of: id, &outbox))
        case .calls:
            submit(callers.calls(from: id, &outbox))
        case .metrics:
            callers.sendMetrics(metrics(), to: id, &outbox)
        case .overview(let number):
            callers.send(overview(), since: number, to: id, &outbox)
        case .cluster:
            if let status = clusterStatus { callers.send(status, to: id, &outbox) }
        case .recovery: recoverCluster(for: id)
        case .ticket(let hash, let digest): host.use(hash, digest, &outbox)
        }
        if mustReact { applyItems() }
    }

    /// Makes a post without a submission, or with one where its center is not here.
    @inline(__always)
    private mutating func post(
        _ content: consuming Notification.Content, _ options: PostOptions?, of id: ConnectionID
    ) {
        guard let position = host.position(ofPost: callers.exchange.path?.center) else {
            callers.keep(PostRequest(content: content, options: options))
            submit(callers.takeRequest(of: id, &outbox))
            return
        }
        // Only a post that may wait in the queue is answered with a location.
        let prefix = options?.isQueued == true ? callers.exchange.path?.prefix ?? [] : []
        let address = callers.askerAddress(of: options, from: id, &outbox)
        let answer = host.post(
            content, options, at: position, callers.exchange.reply.context, prefix: prefix,
            from: id, address, &outbox)
        callers.finishPost(id, answer, &outbox)
    }

    /// Whether connections have items, or centers have notes.
    @inline(__always)
    private var mustReact: Bool { outbox.hasItems || !callers.connections.departing.isEmpty }

    /// Performs a submission here, or sends it to the loop of its center at the end of the turn.
    private mutating func submit(_ submission: Submission) {
        // The listing of all centers starts on the first loop and visits every one.
        let home =
            if case .centers = submission.request { 0 } else {
                outbox.shared.home(of: submission.center)
            }
        let isAnswered: Bool
        if home == outbox.number {
            isAnswered =
                !host.postponed.takes(submission, &outbox) && host.perform(submission, &outbox)
        } else {
            outbox.send(submission, to: home)
            isAnswered = false
        }
        if !isAnswered { callers.connections.wait(for: submission, &outbox) }
    }

    /// Applies the items of connections, and submits their notes to centers, until none is left.
    private mutating func applyItems() {
        while let item = outbox.takeItem() { callers.connections.apply(item, &outbox) }
        if !callers.connections.departing.isEmpty { submitDeparting() }
    }

    /// Submits the notes of connections, and applies the items that result.
    private mutating func submitDeparting() {
        while !callers.connections.departing.isEmpty {
            for submission in callers.connections.takeDeparting() { submit(submission) }
            while let item = outbox.takeItem() { callers.connections.apply(item, &outbox) }
        }
    }

    /// Performs all consequences of the last action.
    ///
    /// Connections whose answers were written continue with the input that came meanwhile.
    @inline(__always)
    mutating func react() {
        if mustReact || callers.connections.ready.count > 0 { reactAtLast() }
    }

    private mutating func reactAtLast() {
        applyItems()
        while let (id, bytes) = callers.connections.takeReady() {
            read(id, bytes.span)
            callers.connections.noteRead(id, &outbox)
            applyItems()
        }
    }

    /// Releases connections whose sockets have room again, as far as the turn has time.
    mutating func releaseThrottled() {
        guard var pass = callers.connections.takeThrottled(&outbox) else { return }
        while callers.connections.releaseNext(&pass, &outbox) { react() }
    }

    /// Continues the requests that wait for these credentials.
    mutating func takeVerdict(_ digest: TokenDigest, _ verdict: Verdict) {
        for id in callers.takeWaiting(digest) {
            guard callers.takeUpRequest(of: id, digest, verdict, &outbox) else { continue }
            if let step = callers.finishRequest(id, &outbox) { perform(step, of: id) }
            applyItems()
            callers.readOnAfterVerdict(id, &outbox)
        }
    }

    /// Counts the memory of all centers of this loop, to the byte.
    mutating func accountForAllKept() {
        host.centers.noteAllKept()
        host.kept.account(for: &host.centers, &outbox)
    }
}
