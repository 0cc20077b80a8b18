import BelfryHTTP
import BelfryLoop
import Testing

/// A peer that reads an event stream.
final class StreamPeer {
    let http: HTTPPeer
    let head: ResponseHead
    private(set) var comments: [String] = []
    private(set) var retry: Int?
    private(set) var lastID = ""
    private var parser = EventStreamParser()
    private var events: [ServerSentEvent] = []
    /// The first position that the stream told; empty where it told none.
    private(set) var firstPosition = ""

    /// The position that a reader would come back with.
    var position: String { String(decoding: parser.lastEventID, as: UTF8.self) }

    /// The epoch of that position.
    var epoch: String { position.split(separator: "-").first.map(String.init) ?? "" }

    init(http: HTTPPeer, target: String, fields: [String] = []) throws {
        self.http = http
        try http.send(HTTPPeer.text("GET", target, fields: fields))
        let head = try http.readHead()
        self.head = try #require(head)
        try #require(self.head.status == 200)
        try read()
    }

    var peer: EmbeddedPeer { http.peer }

    /// The client that the stream is, as its first comment tells.
    var client: String { comments.first?.split(separator: " ").last.map(String.init) ?? "" }

    /// Takes the events that have arrived, each as its type and its data.
    func takeEvents() throws -> [(type: String, data: Value)] {
        try read()
        defer { events = [] }
        return try events.map { (String(decoding: $0.type, as: UTF8.self), try Value($0.data)) }
    }

    /// Takes the names of the notifications that have arrived.
    func takeNames() throws -> [String] {
        try takeEvents().filter { $0.type.isEmpty }.compactMap { $0.data["name"].text }
    }

    private func read() throws {
        let bytes = http.takeRest()
        var cursor = 0
        while let event = try parser.nextEvent(in: bytes.span, at: &cursor) {
            switch event {
            case .event(let event):
                events.append(event)
                lastID = String(decoding: event.id, as: UTF8.self)
            case .position(let id): lastID = String(decoding: id, as: UTF8.self)
            case .retry(let milliseconds): retry = milliseconds
            case .comment(let text): comments.append(String(decoding: text, as: UTF8.self))
            }
            if firstPosition.isEmpty { firstPosition = position }
        }
    }
}
