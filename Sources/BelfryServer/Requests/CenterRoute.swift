import BelfryAccess

/// A kind of request to a center.
///
/// Each path is below `/v1` for the default center, and below `/v1/centers/{center}` for another.
/// Those that name the center themselves have no other form.
enum CenterRoute: CaseIterable {
    case post
    case postSeveral
    case past
    case forget
    case archives
    case archive
    case putArchive
    case removeArchive
    case fate
    case withdraw
    case answer
    case ask
    case responders
    case holders
    case asks
    case values
    case wholeValue
    case setWholeValue
    case mergeWholeValue
    case removeWholeValue
    case value
    case setValue
    case mergeValue
    case removeValue
    case addObserver
    case observers
    case observer
    case removeObserver
    case mailbox
    case webSocket
    case events
    case channels
    case clients
    case suspendClient
    case removeClient
    case queue
    case dequeue
    case queueEntry
    case dequeueEntry
    case enterMode
    case modes
    case leaveMode
    case explain
    case explainContent
    case leaks
    case unmatched
    case overview
    case me
    case endCenter

    /// The facts that path and method decide.
    var row: RouteRow {
        switch self {
        case .post: RouteRow(.post, "/v1/channels/{name}", .acts, .named(.post))
        case .postSeveral: RouteRow(.post, "/v1/notifications", .acts, .named(.post))
        case .past: RouteRow(.get, "/v1/notifications", .looks, .named(.observe))
        case .forget: RouteRow(.delete, "/v1/notifications", .acts, .named(.admin))
        case .archives: RouteRow(.get, "/v1/archives", .looks, .somewhere(.inspect))
        case .archive: RouteRow(.get, "/v1/archives/{name}", .looks, .somewhere(.inspect))
        case .putArchive: RouteRow(.put, "/v1/archives/{name}", .acts, .named(.admin))
        case .removeArchive: RouteRow(.delete, "/v1/archives/{name}", .acts, .named(.admin))
        case .fate:
            RouteRow(
                .get, "/v1/notifications/{id}", .looks,
                .asker(or: .somewhere([.post, .inspect])))
        case .withdraw:
            RouteRow(.delete, "/v1/notifications/{id}", .acts, .asker(or: .named(.admin)))
        case .answer:
            RouteRow(
                .put, "/v1/notifications/{id}/answer", .acts, .token(or: nil), secret: .present)
        case .ask:
            RouteRow(.post, "/v1/responders/{object}/{selector}", .acts, .named(.ask))
        case .responders: RouteRow(.get, "/v1/responders", .looks, .somewhere(.inspect))
        case .holders: RouteRow(.get, "/v1/responders/{object}", .looks, .somewhere(.inspect))
        case .asks: RouteRow(.get, "/v1/asks", .looks, .somewhere(.inspect))
        case .values: RouteRow(.get, "/v1/values", .looks, .somewhere(.inspect))
        case .wholeValue: RouteRow(.get, "/v1/values/{object}", .looks, .named(.read))
        case .setWholeValue: RouteRow(.put, "/v1/values/{object}", .acts, .named(.set))
        case .mergeWholeValue: RouteRow(.patch, "/v1/values/{object}", .acts, .named(.set))
        case .removeWholeValue: RouteRow(.delete, "/v1/values/{object}", .acts, .named(.set))
        case .value: RouteRow(.get, "/v1/values/{object}/{keyPath}", .looks, .named(.read))
        case .setValue: RouteRow(.put, "/v1/values/{object}/{keyPath}", .acts, .named(.set))
        case .mergeValue: RouteRow(.patch, "/v1/values/{object}/{keyPath}", .acts, .named(.set))
        case .removeValue:
            RouteRow(.delete, "/v1/values/{object}/{keyPath}", .acts, .named(.set))
        case .addObserver: RouteRow(.post, "/v1/observers", .acts, .named(.observe))
        case .observers: RouteRow(.get, "/v1/observers", .looks, .somewhere(.inspect))
        case .observer:
            RouteRow(
                .get, "/v1/observers/{idOrToken}", .looks, .token(or: .named(.inspect)),
                secret: .possible)
        case .removeObserver:
            RouteRow(
                .delete, "/v1/observers/{idOrToken}", .acts, .token(or: .named(.admin)),
                secret: .possible)
        // Reading a mailbox may wait, and acknowledges.
        case .mailbox:
            RouteRow(
                .getWithoutHead, "/v1/observers/{idOrToken}/notifications", .looks,
                .token(or: nil), secret: .present)
        case .webSocket: RouteRow(.getWithoutHead, "/v1/ws", .opens, .anyGrant)
        case .events: RouteRow(.getWithoutHead, "/v1/events", .opens, .named(.observe))
        case .channels: RouteRow(.get, "/v1/channels", .looks, .somewhere(.inspect))
        case .clients: RouteRow(.get, "/v1/clients", .looks, .somewhere(.inspect))
        case .suspendClient:
            RouteRow(.patch, "/v1/clients/{id}", .acts, .session(or: .everywhere(.admin)))
        case .removeClient:
            RouteRow(.delete, "/v1/clients/{id}", .acts, .session(or: .everywhere(.admin)))
        case .queue: RouteRow(.get, "/v1/queue", .looks, .somewhere(.inspect))
        case .dequeue: RouteRow(.delete, "/v1/queue", .acts, .somewhere(.post))
        case .queueEntry: RouteRow(.get, "/v1/queue/{id}", .looks, .somewhere(.inspect))
        case .dequeueEntry: RouteRow(.delete, "/v1/queue/{id}", .acts, .somewhere(.post))
        case .enterMode: RouteRow(.post, "/v1/modes", .acts, .somewhere(.modes))
        case .modes: RouteRow(.get, "/v1/modes", .looks, .somewhere(.inspect))
        case .leaveMode:
            RouteRow(
                .delete, "/v1/modes/{token}", .acts, .token(or: .everywhere(.admin)),
                secret: .possible)
        case .explain: RouteRow(.get, "/v1/explain", .looks, .somewhere(.inspect))
        case .explainContent: RouteRow(.post, "/v1/explain", .looks, .somewhere(.inspect))
        case .leaks: RouteRow(.get, "/v1/reports/leaks", .looks, .somewhere(.inspect))
        case .unmatched: RouteRow(.get, "/v1/reports/unmatched", .looks, .somewhere(.inspect))
        case .overview:
            RouteRow(.get, "/v1/centers/{center}/overview", .looks, .somewhere(.inspect))
        case .me: RouteRow(.get, "/v1/centers/{center}/me", .looks, .nothing)
        case .endCenter:
            RouteRow(.delete, "/v1/centers/{center}", .acts, .everywhere(.admin))
        }
    }
}
