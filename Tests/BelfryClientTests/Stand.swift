import Synchronization
import Testing

@testable import BelfryClient

/// A responder of a client on a scripted broker, whose answers a test passes on.
final class Stand {
    let broker: ScriptedBroker
    let desk: ResponderDesk
    private let posts = NotificationBuffer(ClientOptions())
    private let key: Mutex<String>
    private let answers: AsyncStream<DeliveryAnswer>

    init(
        _ broker: ScriptedBroker, _ options: ResponderOptions,
        handler: @escaping ResponderDesk.Handler
    ) {
        self.broker = broker
        let (stream, continuation) = AsyncStream.makeStream(of: DeliveryAnswer.self)
        answers = stream
        key = Mutex("")
        desk = ResponderDesk(options, posts: posts, handler: handler) { owed, response in
            continuation.yield(DeliveryAnswer(selector: "", key: owed, response: response))
        }
        desk.begin()
    }

    func wish(_ number: Int, object: String = "w") -> ObserverWish {
        let name = "belfry.responder.\(number)"
        key.withLock { $0 = name }
        return ObserverWish(
            name: nil, object: object, selector: name, since: nil, options: desk.options.terms,
            buffer: posts, desk: desk)
    }

    /// Registers it; its id is `o` and the number of the request.
    func register(_ number: Int = 1, object: String = "w") throws {
        let wish = wish(number, object: object)
        let answer = try broker.submit { .addObserver(wish, $0) }
        try broker.answerLast(#"{"id":"o\#(number)","token":"o\#(number).t","since":5}"#)
        try #require(answer.isSuccess)
    }

    /// Waits for the next answer of the handler, and gives it to the loop.
    @discardableResult
    func passOnAnswer() async throws -> DeliveryAnswer {
        var iterator = answers.makeAsyncIterator()
        let answer = try #require(await iterator.next())
        let own = DeliveryAnswer(
            selector: key.withLock { $0 }, key: answer.key, response: answer.response)
        _ = try broker.submit { .answer(own, $0) }
        return own
    }
}

extension ScriptedBroker {
    /// Asks a responder of the object `w`.
    func ask(
        _ id: String, _ seq: Int, _ selector: String, observer: String, more: String = ""
    ) throws {
        try send(
            #"{"jsonrpc":"2.0","id":"\#(observer):\#(seq)","method":"\#(selector)","params":"#
                + #"{"id":"\#(id)","seq":\#(seq),"name":"\#(selector)","object":"w","#
                + #""target":"w","postedAt":"t","answerBy":"t","observer":"\#(observer)"\#(more)}}"#
        )
    }

    /// Posts to a responder, whose method is the name.
    func post(_ name: String, _ seq: Int, object: String = "w") throws {
        try send(
            #"{"jsonrpc":"2.0","method":"\#(name)","params":{"id":"n\#(seq)","seq":\#(seq),"#
                + #""name":"\#(name)","object":"\#(object)","postedAt":"t"}}"#)
    }

    /// Gives an action to a responder of the object `w`: a request when it has an id.
    func act(
        _ selector: String, _ seq: Int, target: String = "w", id: String? = nil, more: String = ""
    ) throws {
        let request = id.map { #""id":"\#($0)","# } ?? ""
        let observer = id.map { #","observer":"\#($0.prefix { $0 != ":" })""# } ?? ""
        try send(
            #"{"jsonrpc":"2.0",\#(request)"method":"\#(selector)","params":{"id":"n\#(seq)","#
                + #""seq":\#(seq),"name":"touchUp","object":"s","postedAt":"t","target":"#
                + #""\#(target)"\#(observer)\#(more)}}"#)
    }
}
