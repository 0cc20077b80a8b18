import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWire

// The path of input: callers read it, centers perform requests, and connections act on their items.

extension ServerLoop {
    /// Handles one read, and lets other connections go first where that was much work.
    mutating func receive(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        let before = context.work.total
        read(id, bytes)
        react()
        if context.work.total &- before >= WorkMeter.much { context.loop.letOthersGoFirst(id) }
    }

    /// Reads the input of a connection, and performs its requests one after the other.
    private mutating func read(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard var pass = callers.begin(reading: id, bytes, &context) else { return }
        while let step = callers.next(&pass, bytes, &context) { perform(step, of: id) }
    }

    /// Performs a request of a connection.
    mutating func perform(_ step: consuming CallerStep, of id: ConnectionID) {
        switch consume step {
        case .post(let content, let options):
            post(content, options, of: id)
        case .request:
            submit(callers.takeRequest(of: id, &context))
        case .calls:
            submit(callers.calls(from: id, &context))
        case .metrics:
            callers.sendMetrics(metrics(), to: id, &context)
        case .overview(let number):
            callers.send(overview(), since: number, to: id, &context)
        case .cluster:
            if let status = clusterStatus { callers.send(status, to: id, &context) }
        case .recovery: recoverCluster(for: id)
        case .ticket(let hash, let digest):
            host.tickets.redeem(hash, digest, &host.centers, &context)
        }
        if mustReact { applyItems() }
    }

    /// Makes a post without a submission, or with one where its center is not here.
    @inline(__always)
    private mutating func post(
        _ content: consuming Notification.Content, _ options: PostOptions?, of id: ConnectionID
    ) {
        let origin = callers.origin(ofPostFrom: id, options, &context)
        guard let position = host.position(ofPost: origin.center) else {
            callers.keep(PostRequest(content: content, options: options))
            submit(callers.takeRequest(of: id, &context))
            return
        }
        let answer = host.post(content, options, at: position, origin, from: id, &context)
        callers.finishPost(id, answer, &context)
    }

    /// Whether connections have items, or centers have notes.
    @inline(__always)
    private var mustReact: Bool {
        context.outbox.hasItems || !callers.connections.departing.isEmpty
    }

    /// Performs a submission here, or sends it to the loop of its center at the end of the turn.
    private mutating func submit(_ submission: Submission) {
        // The listing of all centers starts on the first loop and visits every one.
        let home =
            if case .centers = submission.request { 0 } else {
                context.shared.home(of: submission.center)
            }
        let isAnswered: Bool
        if home == context.number {
            isAnswered =
                !host.postponed.takes(submission, &context) && host.perform(submission, &context)
        } else {
            context.outbox.send(submission, to: home)
            isAnswered = false
        }
        if !isAnswered { callers.connections.wait(for: submission, &context) }
    }

    /// Applies the items of connections, and submits their notes to centers, until none is left.
    private mutating func applyItems() {
        while let item = context.outbox.takeItem() { callers.connections.apply(item, &context) }
        if !callers.connections.departing.isEmpty { submitDeparting() }
    }

    /// Submits the notes of connections, and applies the items that result.
    private mutating func submitDeparting() {
        while !callers.connections.departing.isEmpty {
            for submission in callers.connections.takeDeparting() { submit(submission) }
            while let item = context.outbox.takeItem() { callers.connections.apply(item, &context) }
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
            callers.connections.noteRead(id, &context)
            applyItems()
        }
    }

    /// Releases connections whose sockets have room again, as far as the turn has time.
    mutating func releaseThrottled() {
        guard var pass = callers.connections.throttled.beginPass(&context) else { return }
        while callers.connections.releaseNext(&pass, &context) { react() }
    }

    /// Continues the requests that wait for these credentials.
    mutating func takeVerdict(_ digest: TokenDigest, _ verdict: Verdict) {
        for id in callers.gate.credentials.takeWaiting(digest) {
            guard callers.takeUpRequest(of: id, digest, verdict, &context) else { continue }
            if let step = callers.finishRequest(id, &context) { perform(step, of: id) }
            applyItems()
            callers.readOnAfterVerdict(id, &context)
        }
    }

    /// Counts the memory of all centers of this loop, to the byte.
    mutating func accountForAllKept() {
        host.centers.noteAllKept()
        host.kept.account(for: &host.centers, &context)
    }
}
