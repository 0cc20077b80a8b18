import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryJSON
import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWebSocket
import BelfryWire
import Synchronization

// Requests of centers: each finds the loop of its center and is performed there, in one callout.

extension ServerLoop {
    /// Performs a request here, or sends it to the loop of its center at the end of the turn.
    mutating func submit(_ submission: Submission) {
        let home = homeLoop(of: submission)
        if home == number {
            perform(submission)
            return
        }
        switch submission.reply.form {
        case .none: break
        case .webSocket:
            connections[Int(submission.reply.connection.index)]?.isAwaiting = true
        case .http:
            let id = submission.reply.connection
            connections[Int(id.index)]?.isAwaiting = true
            // The request is whole: its time is over, and that of the answer is the broker's.
            setDeadline(id, .idle, after: configuration.idleTimeout)
        }
        outbound[home].submissions.append(submission)
    }

    private func homeLoop(of submission: Submission) -> Int {
        // The listing of all centers starts on the first loop and visits every one.
        if case .centers = submission.request { return 0 }
        return shared.home(of: submission.center)
    }

    /// Performs a request of a center that lives on this loop.
    mutating func perform(_ submission: Submission) {
        answerContent.removeAll(keepingCapacity: answerContent.capacity <= 1 << 20)
        let answer: Answer
        do throws(Problem) {
            switch submission.request {
            case .centers(let rows, let cursor, let limit):
                try listCenters(rows, cursor: cursor, limit: limit, submission)
                return
            case .connect(let transport, let observers, let since):
                try connect(transport, observers, since: since, submission)
                return
            case .calls(let text, let client):
                performCalls(text, client: client, submission)
                return
            case .post, .disconnect, .addObserver, .removeObserver, .readObserver, .removeClient,
                .fate, .observers, .clients, .channels, .explain, .leaks, .unmatched:
                answer = try performRequest(submission)
            }
        } catch {
            answerContent.removeAll(keepingCapacity: true)
            deliver(problemAnswer(error), submission.reply)
            return
        }
        deliver(answer, submission.reply)
        // What follows a registration comes after its answer.
        if case .addObserver = submission.request { fanOut() }
    }

    private mutating func performRequest(_ submission: Submission) throws(Problem) -> Answer {
        let caller = submission.caller
        let name = submission.center
        switch submission.request {
        case .post(let posts, let isBatch):
            return try post(posts, isBatch: isBatch, submission)
        case .disconnect(let client):
            if let position = centers.position(of: name) {
                submitCommand(.disconnect(client: client), to: position)
            }
            return .empty
        case .addObserver(let request):
            return try addObserver(request, submission)
        case .removeObserver(let secret):
            let row = try removableObserver(secret, caller, center: name)
            try removeObserver(row, by: .principal(caller.principal), center: name)
            return .empty
        case .removeClient(let id, let session):
            try removeClient(id, session: session, caller, center: name)
            return .empty
        case .readObserver, .fate, .observers, .clients, .channels, .explain, .leaks, .unmatched:
            return try look(submission)
        case .connect, .calls, .centers:
            preconditionFailure("these are performed in a way of their own")
        }
    }

    // MARK: Commands

    /// Gives a center a command; what it brought about is in `effects`.
    mutating func submitCommand(_ action: consuming Command.Action, to position: Int) {
        lastCenter = position
        centers.submit(action, to: position, at: commandTime, into: &effects)
        switch effects.outcome {
        case .registered(let rows):
            shared.observerCount.add(rows.count, ordering: .relaxed)
            counters.registrations += UInt64(rows.count)
        case .removed(let count):
            shared.observerCount.subtract(count, ordering: .relaxed)
            counters.removals += UInt64(count)
        case .done, .refused:
            break
        }
    }

    /// The center of this name; it is made unless it is there.
    mutating func makeCenter(_ name: [UInt8]) throws(Problem) -> Int {
        if let position = centers.position(of: name) { return position }
        let before = shared.centerCount.wrappingAdd(1, ordering: .relaxed).oldValue
        guard before < configuration.centerLimit else {
            shared.centerCount.subtract(1, ordering: .relaxed)
            throw Problem(.overloaded, "There are \(configuration.centerLimit) centers already.")
        }
        return centers.make(name, epoch: random.hexadecimal(digitCount: 12), time: commandTime)
    }

    /// The refusal of the last command as a problem.
    func checkOutcome() throws(Problem) {
        if case .refused(let refusal) = effects.outcome { throw Problem(refusal) }
    }

    // MARK: Posting

    private mutating func post(
        _ requests: [PostRequest], isBatch: Bool, _ submission: Submission
    ) throws(Problem) -> Answer {
        try applyPosts(requests, caller: submission.caller, center: submission.center)
        fanOut()
        guard case .http(let http) = submission.reply.form else { return .json }
        if http.isMinimal { return .empty }
        appendReceipts(isBatch: isBatch, reportsObservers: http.reportsObservers)
        return .json
    }

    /// Applies posts that the caller may make; `effects` has what they brought about.
    mutating func applyPosts(
        _ requests: [PostRequest], caller: Caller, center name: [UInt8]
    ) throws(Problem) {
        for place in requests.indices {
            let content = requests[place].content
            guard
                caller.grants.allow(
                    .post, center: name.span, name: content.name, object: content.object)
            else { throw Problem.lacking("post", place: requests.count > 1 ? place : nil) }
        }
        let position = try makeCenter(name)
        if requests.count == 1 {
            submitCommand(.post(makePost(requests[0])), to: position)
        } else {
            var posts: [Post] = []
            posts.reserveCapacity(requests.count)
            for request in requests { posts.append(makePost(request)) }
            submitCommand(.postBatch(posts), to: position)
        }
        try checkOutcome()
        counters.posts += UInt64(effects.receipts.count)
        counters.deliveries += UInt64(effects.deliveries.count)
        for receipt in effects.receipts where receipt.matched == 0 { counters.unmatchedPosts += 1 }
    }

    private mutating func makePost(_ request: PostRequest) -> Post {
        let id = NotificationID(
            milliseconds: loop.wallNow.milliseconds,
            random: (UInt16(truncatingIfNeeded: random.next()), random.next()))
        return Post(id: id, content: request.content, causedBy: request.causedBy)
    }

    /// Appends the receipts of the last posts to the answer.
    mutating func appendReceipts(isBatch: Bool, reportsObservers: Bool) {
        if !isBatch, let receipt = effects.receipts.first {
            Shape.append(
                receipt: receipt, rows: reportsObservers ? reportRows(notification: 0) : nil,
                to: &answerContent)
            return
        }
        let rows =
            reportsObservers ? effects.receipts.indices.map { reportRows(notification: $0) } : nil
        Shape.append(
            receipts: effects.receipts, rows: rows, to: &answerContent)
    }

    /// The observers of one notification in registration order.
    private func reportRows(notification: Int) -> [ReceiptRow] {
        effects.deliveries.filter { $0.notification == UInt32(notification) }
            .map { ReceiptRow(observer: $0.observer, outcome: .delivered) }
    }
}

// MARK: - Clients

extension ServerLoop {
    private mutating func connect(
        _ transport: Transport, _ requests: [ObserverRequest], since: ReplayPosition?,
        _ submission: Submission
    ) throws(Problem) {
        guard case .http(let http) = submission.reply.form else {
            preconditionFailure("a client connects by a request")
        }
        for request in requests {
            try checkObserve(request.name, request.object, submission)
        }
        try reserveObservers(requests.count)
        let position = try makeCenter(submission.center)
        let client = shared.clientNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let secret = random.text(byteCount: 16)
        var session: [UInt8] = []
        IdentifierText.append(client: client, secret: secret, to: &session)
        let registration = ClientRegistration(
            id: client, transport: transport,
            connection: ConnectionName(
                node: 0,
                number: ConnectionNumber(
                    loop: submission.reply.loop, connection: submission.reply.connection
                ).rawValue),
            sessionHash: SecretHash(of: secret), principal: submission.caller.principal)
        // A position of another life of the center says nothing about this one.
        let epoch = centers[position].epoch
        let sequence = since.map { $0.epoch == epoch ? $0.sequence : 0 }
        let observers = requests.map { makeRegistration($0, secret: random.text(byteCount: 16)) }
        submitCommand(
            .connect(registration, observers: observers, since: sequence), to: position)
        try checkOutcome()
        var answer = Answer()
        answer.sequel = .client(
            id: client, session: session, transport: transport, center: submission.center)
        var bytes: [UInt8] = []
        switch transport {
        case .webSocket:
            counters.clientsWebSocket += 1
            appendOpening(http, to: &bytes)
            appendWelcome(client, session: session, position, to: &bytes)
        case .events:
            counters.clientsEvents += 1
            appendStreamStart(http, client: client, to: &bytes)
        }
        sendRaw(bytes, answer.sequel, submission.reply)
        fanOut()
    }

    /// Sends bytes that are no usual response, and does what follows.
    private mutating func sendRaw(_ bytes: [UInt8], _ sequel: Sequel, _ reply: Reply) {
        if reply.loop == number {
            let start = loop.output.count
            loop.output.append(contentsOf: bytes)
            loop.send(start..<loop.output.count, to: reply.connection, as: .answer)
            follow(sequel, on: reply.connection, nil)
        } else {
            sendElsewhere(bytes, sequel, reply)
        }
    }

    private mutating func removeClient(
        _ id: UInt64, session: [UInt8]?, _ caller: Caller, center name: [UInt8]
    ) throws(Problem) {
        let position = centers.position(of: name)
        let client = position.flatMap { centers[$0].client(id) }
        let isAdmin = caller.grants.allowSome(.admin, center: name.span)
        guard let position, let client else {
            throw Problem(.notFound, "There is no such client.")
        }
        let isOwn = session.map { Self.speaks($0, for: client) } ?? false
        guard isOwn || isAdmin else {
            // Whoever knows no secret of the client learns nothing about it.
            throw Problem(.notFound, "There is no such client.")
        }
        let remover = isOwn ? Remover.client(id) : .principal(caller.principal)
        submitCommand(.removeClient(client: id, by: remover), to: position)
        try checkOutcome()
        tellNotices()
    }

    /// Whether a session secret, whole or its secret half, is that of a client.
    static func speaks(_ session: [UInt8], for client: ClientRow) -> Bool {
        let secret = IdentifierText(client: session.span)?.secret ?? session
        return SecretHash(of: secret).matches(client.sessionHash)
    }
}

// MARK: - Observers

extension ServerLoop {
    /// Checks that the caller may observe with this filter.
    func checkObserve(
        _ name: [UInt8]?, _ object: [UInt8]?, _ submission: Submission
    ) throws(Problem) {
        let grants = submission.caller.grants
        if name == nil, object == nil,
            !grants.allow(.wildcard, center: submission.center, name: nil, object: nil)
        {
            throw Problem.lacking("wildcard")
        }
        guard grants.allow(.observe, center: submission.center, name: name, object: object) else {
            throw Problem.lacking("observe")
        }
    }

    /// Checks that the broker has room for some observers more.
    func reserveObservers(_ count: Int) throws(Problem) {
        guard shared.observerCount.load(ordering: .relaxed) + count <= configuration.observerLimit
        else {
            throw Problem(
                .overloaded, "The broker has \(configuration.observerLimit) observers already.")
        }
    }

    mutating func makeRegistration(
        _ request: ObserverRequest, secret: [UInt8]
    ) -> ObserverRegistration {
        ObserverRegistration(
            serial: shared.observerSerial.wrappingAdd(1, ordering: .relaxed).newValue,
            tokenHash: SecretHash(of: secret), name: request.name, object: request.object,
            selector: request.selector)
    }

    /// Registers an observer for a client that is named by its session (POST /v1/observers).
    private mutating func addObserver(
        _ request: ObserverRequest, _ submission: Submission
    ) throws(Problem) -> Answer {
        guard let session = request.session else {
            throw Problem.invalid([
                Problem.FieldError(
                    .pointer(.root.appending(key: "session")),
                    "is required: an observer without a client comes later")
            ])
        }
        let position = centers.position(of: submission.center)
        let number = IdentifierText(client: session.span)?.number
        let client = position.flatMap { position in
            number.flatMap { centers[position].client($0) }
        }
        guard let client, Self.speaks(session, for: client) else {
            throw Problem(.notFound, "The session is not that of a client of this center.")
        }
        let (row, token) = try register(request, client: client.id, submission)
        Shape.append(
            registered: row, token: token, session: session, center: submission.center,
            to: &answerContent)
        var answer = Answer(status: 201, contentType: "application/json")
        answer.fields = [Self.noStore]
        if case .http(let http) = submission.reply.form {
            let location = http.pathPrefix + Array("/observers/".utf8) + token
            answer.fields.append(HTTPField("Location", location))
        }
        return answer
    }

    /// Answers that hold a secret stay out of every cache.
    static var noStore: HTTPField { HTTPField("Cache-Control", "no-store") }

    /// Registers an observer, and gives its row and its token.
    mutating func register(
        _ request: ObserverRequest, client: UInt64, _ submission: Submission
    ) throws(Problem) -> (ObserverRow, token: [UInt8]) {
        try checkObserve(request.name, request.object, submission)
        try reserveObservers(1)
        guard let position = centers.position(of: submission.center) else {
            throw Problem(.notFound, "There is no such client.")
        }
        let secret = random.text(byteCount: 16)
        let registration = makeRegistration(request, secret: secret)
        submitCommand(
            .addObserver(registration, client: client, since: request.since), to: position)
        try checkOutcome()
        guard case .registered(let rows) = effects.outcome, let row = rows.first else {
            preconditionFailure("a registration that is not refused has its observer")
        }
        var token: [UInt8] = []
        IdentifierText.append(observer: row.serial, secret: secret, to: &token)
        return (row, token)
    }

    /// The observer that the caller may remove: the token's holder, or an admin.
    private func removableObserver(
        _ secret: Secret, _ caller: Caller, center name: [UInt8]
    ) throws(Problem) -> UInt64 {
        let unknown = Problem.noObserver
        guard let position = centers.position(of: name) else { throw unknown }
        let center = centers[position]
        let row = center.observer(secret.number)
        let tombstone = row == nil ? center.tombstone(secret.number) : nil
        guard let hash = row?.tokenHash ?? tombstone?.tokenHash else { throw unknown }
        if let text = secret.secret {
            guard SecretHash(of: text).matches(hash) else { throw unknown }
        } else {
            let isAdmin = caller.grants.allow(
                .admin, center: name, name: row?.name ?? tombstone?.name,
                object: row?.object ?? tombstone?.object)
            guard isAdmin else { throw unknown }
        }
        if let tombstone { throw Problem(.observerRemoved(tombstone)) }
        return secret.number
    }

    /// Removes an observer and tells its owner.
    mutating func removeObserver(
        _ serial: UInt64, by remover: Remover, center name: [UInt8]
    ) throws(Problem) {
        guard let position = centers.position(of: name) else {
            throw Problem.noObserver
        }
        submitCommand(.removeObserver(serial: serial, by: remover), to: position)
        try checkOutcome()
        tellNotices()
    }
}

extension SecretHash {
    /// The hash of a secret: the first 128 bits of its SHA-256.
    init(of secret: [UInt8]) {
        let digest = Digest(of: secret.span).bytes
        var words: (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            words.0 = words.0 << 8 | UInt64(digest[index])
            words.1 = words.1 << 8 | UInt64(digest[index + 8])
        }
        self.init(high: words.0, low: words.1)
    }
}

extension SystemRandom {
    /// Random text for a secret: base64url of so many random bytes (RFC 4648 §5).
    mutating func text(byteCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < byteCount { bytes.append(UInt8(truncatingIfNeeded: next())) }
        return Base64.url.encode(bytes.span)
    }
}

extension SystemRandom {
    /// Random digits 0-9 and a-f: an epoch, which must have no hyphen.
    mutating func hexadecimal(digitCount: Int) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return (0..<digitCount).map { _ in digits[Int(next() % 16)] }
    }
}

extension Problem {
    /// A verb that the caller lacks.
    static func lacking(_ verb: String, place: Int? = nil) -> Problem {
        var problem = Problem(.forbidden, "The caller lacks the grant \(verb).")
        if let place {
            problem.errors = [
                FieldError(
                    .pointer(.root.appending(index: place)), "the caller lacks the grant \(verb)")
            ]
        }
        return problem
    }
}
