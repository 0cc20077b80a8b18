internal import BelfryJSON
internal import Synchronization

/// The tasks of a responder's handler.
///
/// Asks are handled side by side, each in a task of its own, and actions and posts in their order.
final class ResponderDesk: Sendable {
    typealias Handler = @Sendable (Ask) async throws -> String
    /// Sends the broker the response to the delivery with this key.
    typealias Respond = @Sendable (_ key: String, DeliveryResponse) async -> Void

    private struct State {
        var tasks: [String: Task<Void, Never>] = [:]
        var hasEnded = false
    }

    /// The key of the task of actions and posts among those of asks; it is no id of an ask.
    private static let posts = ""

    let options: ResponderOptions
    private let handler: Handler
    private let respond: Respond
    private let posts: NotificationBuffer
    /// A buffer without notifications; only its end is awaited.
    private let end: NotificationBuffer
    private let state = Mutex(State())

    init(
        _ options: ResponderOptions, posts: NotificationBuffer, handler: @escaping Handler,
        respond: @escaping Respond
    ) {
        self.options = options
        self.posts = posts
        self.handler = handler
        self.respond = respond
        end = NotificationBuffer(ClientOptions())
    }

    /// Handles actions and posts until the end.
    func begin() {
        start(Self.posts) { desk in
            // How it ended is told by the end of the desk.
            while let post = try? await desk.posts.next() {
                let response = await desk.response(to: Ask(notification: post))
                if post.call != nil { await desk.respond(post.owedKey, response) }
            }
        }
    }

    /// Starts to handle and answer an ask.
    func take(_ ask: Ask) {
        start(ask.id) { desk in
            let response = await desk.response(to: ask)
            desk.state.withLock { $0.tasks[ask.id] = nil }
            await desk.respond(ask.id, response)
        }
    }

    /// Cancels the handler of an ask that is over, because its answer is not wanted any more.
    func settle(_ id: String) {
        state.withLock { $0.tasks.removeValue(forKey: id) }?.cancel()
    }

    /// The responder is removed, by its owner or for this reason.
    func finish(_ error: ClientError?) {
        let tasks = state.withLock { state in
            state.hasEnded = true
            defer { state.tasks = [:] }
            return state.tasks
        }
        // Actions and posts that came before the connection was lost are handled still.
        for (id, task) in tasks where error == nil || id != Self.posts { task.cancel() }
        end.finish(error, discarding: error == nil)
    }

    func waitForEnd() async throws(ClientError) {
        _ = try await end.next()
    }

    /// The task finds itself in the table: it begins with the same lock.
    private func start(_ id: String, _ body: @escaping @Sendable (ResponderDesk) async -> Void) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.tasks[id] = Task {
                await body(self)
            }
        }
    }

    private func response(to ask: Ask) async -> DeliveryResponse {
        do {
            let answer = Array(try await handler(ask).utf8)
            return JSONObject.isJSON(answer) ? .result(answer) : .refused("The answer is not JSON.")
        } catch is Ask.Pass {
            return .passed
        } catch {
            return .refused(Refusal.reason(of: error, by: "responder"))
        }
    }
}
