internal import BelfryLoop
internal import BelfrySystem
internal import Synchronization

/// A notification center of a broker, for posting and observing (Cocoa's `NotificationCenter`).
///
/// ```
/// let center = try await RemoteCenter.connect(to: BrokerURL("http://127.0.0.1:8080"))
/// let presses = try await center.addObserver(forName: "ButtonChange", object: nil)
/// for try await press in presses { … }
/// await center.close()
/// ```
///
/// One WebSocket connection carries all of it, on a thread of its own. When the last reference goes
/// the connection ends, and with it the observers. A call whose task is cancelled ends at once.
public final class RemoteCenter: Sendable {
    let url: BrokerURL
    let token: TokenSource?
    let door: ClientDoor
    let options: ClientOptions
    /// The changes of the connection, lost or back, for one reader; it ends with the center.
    ///
    /// The first connection is not reported where `connect` has waited for it. A slow reader keeps
    /// the last 16 changes.
    public let connectionStates: AsyncStream<ConnectionState>
    private let observationCount = Mutex(0)
    /// The own connections of observers that begin in the past.
    let branches = Mutex(Branches())

    private init(
        _ url: BrokerURL, _ token: TokenSource?, _ door: ClientDoor, _ options: ClientOptions,
        _ states: AsyncStream<ConnectionState>
    ) {
        self.url = url
        self.token = token
        self.door = door
        self.options = options
        connectionStates = states
    }

    deinit {
        door.abandon()
    }

    /// Connects to a broker, and waits for its welcome.
    ///
    /// - Parameters:
    ///   - url: the broker, and the center.
    ///   - options: how this client behaves.
    ///   - token: returns the credentials in place of the token of the URL: a key, or a JWT. It is
    ///     called before each connection and each ask, so that a center continues when a token has
    ///     expired (401, and the close code 4003).
    /// - Throws: `ClientError`; `noToken` when the function failed.
    public static func connect(
        to url: BrokerURL, options: ClientOptions = ClientOptions(), token: TokenSource? = nil
    ) async throws(ClientError) -> RemoteCenter {
        let center = try make(url, options, token)
        try await center.submit { .open($0) }
        return center
    }

    /// Makes a center that connects by itself, and keeps trying while there is no broker.
    ///
    /// Requests wait for the connection, as after a lost one (`ClientOptions.reconnects`). When the
    /// broker refuses the credentials the center ends, and each call fails with that error; a
    /// `token` function is called again after 401 and after a failure.
    ///
    /// - Throws: `ClientError` when the machine has no thread or descriptor for it, or authorities
    ///   cannot be read.
    public static func connecting(
        to url: BrokerURL, options: ClientOptions = ClientOptions(), token: TokenSource? = nil
    ) throws(ClientError) -> RemoteCenter {
        var options = options
        options.reconnects = true
        let center = try make(url, options, token)
        center.door.submit(.open(nil))
        return center
    }

    /// Starts the thread of a center, which does not connect yet.
    static func make(
        _ url: BrokerURL, _ options: ClientOptions, _ token: TokenSource?
    ) throws(ClientError) -> RemoteCenter {
        let context = try SecureLine.context(for: url)
        let (states, changes) = AsyncStream.makeStream(
            of: ConnectionState.self, bufferingPolicy: .bufferingNewest(16))
        let door: ClientDoor
        do throws(SystemCallError) {
            door = try ClientDoor()
            _ = try SystemThread {
                do throws(SystemCallError) {
                    let line = context.map { SecureLine($0, host: url.hostName) }
                    var loop = try ClientLoop(
                        url, options, line, door: door, states: changes, token: token,
                        kernel: .linux)
                    try loop.run()
                } catch {
                    changes.finish()
                }
                door.shut()
            }
        } catch {
            throw .system(error)
        }
        return RemoteCenter(url, token, door, options, states)
    }

    /// Registers an observer of the notifications with this name and this object.
    ///
    /// - Parameters:
    ///   - name: the notification name; `nil` is any.
    ///   - object: the object; `nil` is any.
    ///   - selector: the name of the observer's method in listings, which no other observation of
    ///     this center has; by default `notify`, then `notify2` and so on.
    ///   - since: the place in the past where it begins; see `ObserverOptions.ownsConnection`.
    ///   - options: its suspension behavior, and whether it acknowledges.
    /// - Throws: `ClientError`.
    public func addObserver(
        forName name: String?, object: String?, selector: String? = nil, since: Beginning? = nil,
        options: ObserverOptions = ObserverOptions()
    ) async throws(ClientError) -> Observation {
        try await addObserver(
            for: NotificationFilter(name: name, object: object), selector: selector, since: since,
            options: options)
    }

    /// Registers an observer of the notifications that a filter matches.
    ///
    /// - Parameters:
    ///   - filter: their names and objects, also by how they begin, and a condition.
    ///   - selector: as of an observer of one name.
    ///   - since: the place in the past where it begins; see `ObserverOptions.ownsConnection`.
    ///   - options: its suspension behavior, and whether it acknowledges.
    /// - Throws: `ClientError`.
    public func addObserver(
        for filter: NotificationFilter, selector: String? = nil, since: Beginning? = nil,
        options: ObserverOptions = ObserverOptions()
    ) async throws(ClientError) -> Observation {
        if options.ownsConnection ?? (since.map { $0.number == nil } ?? false) {
            return try await addObserverApart(for: filter, selector, since, options)
        }
        var observation = try await add(
            ObserverWish(
                filter: filter, selector: selector ?? nextSelector(), since: since,
                options: options, buffer: NotificationBuffer(self.options)))
        if options.acknowledges {
            observation.answer = { (answer) async throws(ClientError) in
                try await self.finish { .answer(answer, $0) }
            }
        }
        return observation
    }

    /// Registers an observer that calls a selector at the holder of an address: an action.
    ///
    /// ```
    /// let wire = try await center.addObserver(
    ///     forName: "touchUp", object: "switch-1", target: "lamp", selector: "toggle")
    /// ```
    ///
    /// The holder of the address may be another client, may change and may be absent (rules K1 to
    /// K9). The observation's sequence has no elements, and ends when the observer is removed.
    ///
    /// - Parameters:
    ///   - name: the notification name.
    ///   - object: the object; `nil` is any.
    ///   - target: the address.
    ///   - selector: the selector that is called there.
    ///   - options: its lifetime and lease, and whether the responder is to answer, which the
    ///     poster learns; the responder decides the rest.
    /// - Throws: `ClientError`.
    public func addObserver(
        forName name: String, object: String?, target: String, selector: String,
        options: ObserverOptions = ObserverOptions()
    ) async throws(ClientError) -> Observation {
        try await addObserver(
            for: NotificationFilter(name: name, object: object), target: target,
            selector: selector, options: options)
    }

    /// Registers an observer that calls a selector at the holder of an address, for a filter.
    ///
    /// - Parameters:
    ///   - filter: the notifications; their name is one, or one of several.
    ///   - target: the address.
    ///   - selector: the selector that is called there.
    ///   - options: as of an observer of one name.
    /// - Throws: `ClientError`.
    public func addObserver(
        for filter: NotificationFilter, target: String, selector: String,
        options: ObserverOptions = ObserverOptions()
    ) async throws(ClientError) -> Observation {
        // No selector begins so: the broker refuses that.
        var wish = ObserverWish(
            filter: filter, selector: "belfry.target.\(nextNumber())", since: nil,
            options: options, buffer: NotificationBuffer(self.options))
        wish.action = ObserverWish.Action(target: target, selector: selector)
        return try await add(wish)
    }

    /// Registers an observer that is no responder.
    func add(_ wish: ObserverWish) async throws(ClientError) -> Observation {
        let registration = try await register(wish)
        let key = wish.selector
        var observation = Observation(
            id: registration.id, token: registration.token, filter: wish.filter,
            selector: wish.action?.selector ?? key, buffer: wish.buffer
        ) { () async throws(ClientError) in
            try await self.finish { .removeObserver(selector: key, $0) }
        }
        observation.target = wish.action?.target
        return observation
    }

    /// Removes an observer; nothing comes out of its sequence afterwards.
    ///
    /// - Throws: `ClientError` when the broker did not answer; the sequence has ended all the same.
    public func removeObserver(_ observation: Observation) async throws(ClientError) {
        try await observation.removeObserver()
    }

    /// Posts a notification, and waits for its receipt.
    ///
    /// A post with the style `asap` or `idle` is enqueued, and its receipt says only that.
    ///
    /// - Throws: `ClientError`; it is certain that nothing was posted only after `refused` with
    ///   another slug than `outcome-unknown`: with that one a cluster may have posted it, or may
    ///   post it later. With the same idempotency key the post can be repeated, and happens once.
    public func post(
        name: String, object: String? = nil, userInfo: UserInfo? = nil,
        options: PostOptions = PostOptions()
    ) async throws(ClientError) -> PostReceipt {
        let wish = PostWish(name: name, object: object, userInfo: userInfo, options: options)
        return try await submit { .post(wish, $0) }
    }

    /// Suspends this client, or ends its suspension.
    ///
    /// Meanwhile the suspension behavior of each observer decides over its notifications.
    ///
    /// A suspended client stays so on its next connection.
    /// - Throws: `ClientError`.
    public func setSuspended(_ isSuspended: Bool) async throws(ClientError) {
        try await submit { .setSuspended(isSuspended, $0) }
        for branch in setBranchesSuspended(isSuspended) {
            try await branch.setSuspended(isSuspended)
        }
    }

    /// Removes all observers, then ends the connection; the sequences end.
    ///
    /// It waits for the broker, but no longer than `ClientOptions.closeTimeout`. While there is no
    /// connection, observers of lifetime `token` cannot be removed: they stay for their lease.
    public func close() async {
        for branch in takeBranches() { await branch.close() }
        // Closing counts as done, with or without an answer of the broker.
        try? await finish { .close($0) }
    }

    /// Ends the connection, and removes nothing: what has the lifetime `token` stays for its lease.
    ///
    /// The sequences end with `ClientError.closedByOwner`, and later calls fail. Handlers of asks
    /// are cancelled, and the broker shows their asks to other responders.
    public func leave() {
        for branch in takeBranches() { branch.leave() }
        door.abandon()
    }

    /// The broker, with the token for a request of its own.
    func requestURL() async throws(ClientError) -> BrokerURL {
        guard let token else { return url }
        return try await url.authenticated(by: token, within: options.openingTimeout)
    }

    /// A name for the method of an observer, which no other of this center has.
    func nextSelector() -> String {
        let number = nextNumber()
        return number == 1 ? "notify" : "notify\(number)"
    }

    /// A number that no observation and no responder of this center has.
    func nextNumber() -> Int {
        observationCount.withLock { count in
            count += 1
            return count
        }
    }

    /// Registers an observer; if its task gives up, it is removed even when it is confirmed later.
    func register(_ wish: ObserverWish) async throws(ClientError) -> Registration {
        do throws(ClientError) {
            return try await submit { .addObserver(wish, $0) }
        } catch {
            if error == .cancelled {
                door.submit(.removeObserver(selector: wish.selector, ClientCommand.Reply { _ in }))
            }
            throw error
        }
    }

    /// Sends a command, and waits for the answer as long as the task is not cancelled.
    ///
    /// - Throws: `ClientError.cancelled` at once then; the command may take effect all the same.
    func submit<Value: Sendable>(
        _ command: (ClientCommand.Reply<Value>) -> ClientCommand
    ) async throws(ClientError) -> Value {
        let call = PendingCall<Value>()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard call.wait(continuation) else { return }
                let reply = ClientCommand.Reply<Value>(while: { call.isWanted }) { call.finish($0) }
                door.submit(command(reply))
            }
        } onCancel: {
            call.finish(.failure(.cancelled))
        }
        return try outcome.get()
    }

    /// Sends a command, such as removing, and waits for its answer despite cancellation.
    func finish<Value: Sendable>(
        _ command: (ClientCommand.Reply<Value>) -> ClientCommand
    ) async throws(ClientError) -> Value {
        let outcome: Result<Value, ClientError> = await withCheckedContinuation { continuation in
            door.submit(command(ClientCommand.Reply { continuation.resume(returning: $0) }))
        }
        return try outcome.get()
    }
}
