import BelfryHTTP
import BelfryLoop

extension Callers {
    /// Keeps what the request asked for with its reply, wherever that is made.
    mutating func noteAsked(on id: ConnectionID, _ outbox: inout Outbox) {
        let path = exchange.plainPostName == nil ? exchange.path?.place : RoutePath.channel
        exchange.reply.details.asked = Asked(
            method: exchange.parser.head.method.name ?? "other", route: path?.pattern ?? "none",
            connection: outbox.connectionText(id))
    }
}
