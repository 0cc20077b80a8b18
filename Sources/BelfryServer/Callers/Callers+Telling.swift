import BelfryHTTP
import BelfryLoop

extension Callers {
    /// Keeps what the request asked for with its reply, wherever that is made.
    mutating func noteAsked(on id: ConnectionID, _ outbox: inout Outbox) {
        let route = exchange.plainPostName == nil ? exchange.path?.route : .channelPost(name: [])
        exchange.reply.details.asked = Asked(
            method: exchange.parser.head.method.name ?? "other", route: route?.pattern ?? "none",
            connection: outbox.connectionText(id))
    }
}
