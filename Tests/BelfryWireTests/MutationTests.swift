import BelfryCenter
import BelfryWire
import TestSupport
import Testing

@Suite("Mutated requests")
struct MutationTests {
    private let requests = RequestReader()
    private let calls = RPCReader()

    private static let originals: [String] = [
        #"{"name":"ButtonChange","object":"calc","userInfo":{"t\u00e9":[1,{"x":"\ud834\udd1e"}]}}"#,
        #"[{"name":"a","causedBy":"01ARZ3NDEKTSV4RRFFQ69G5FAV"},{"name":"b","userInfo":null}]"#,
        "{\"name\":\"a\"}\n{\"name\":\"b\",\"userInfo\":{}}\n",
        #"{"name":"a","object":null,"selector":"in:","since":7,"session":"c4.Q","minInterval":0,"#
            + #""suspensionBehavior":"hold","acknowledge":true,"holdLimit":7,"lease":1.5,"#
            + #""lifetime":"token"}"#,
        #"[{"name":"a","style":"idle","coalesce":["name","sender"],"keep":"latest","#
            + #""modes":["default","common"],"maxDelay":0.5,"immediate":true,"ttl":86400}]"#,
        #"[{"jsonrpc":"2.0","id":1,"method":"post","params":{"name":"a","report":"observers"}},"#
            + #"{"jsonrpc":"2.0","method":"removeObserver","params":{"token":"o17.kJ3"}}]"#,
        #"{"jsonrpc":"2.0","id":"x","method":"observers","params":{"limit":7,"client":"c4"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"dequeue","params":{"name":"a","coalesce":["name"]}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"resume","params":{"session":"c4.Q","after":7}}"#,
        #"{"jsonrpc":"2.0","id":"o17:1842","error":{"code":-1,"message":"\u00e9\"no\""}}"#,
        #"{"object":"o","implements":["a","b:"],"next":"n","ifHeld":"share","concurrency":7}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"ask","params":{"object":"o","selector":"s","ttl":7,"#
            + #""default":{"x":null},"once":true,"wait":1,"idempotencyKey":"k"}}"#,
        #"{"jsonrpc":"2.0","id":"o17:1842","result":[{"\u00e9":"\ud834\udd1e"},null]}"#,
        #"{"suspended":true,"mode":"held","lease":60,"token":"m3.x"}"#,
    ]

    @Test("no mutation of a request traps, and each problem can be written", arguments: originals)
    func mutate(original: String) {
        var generator = SplitMix(seed: UInt64(original.utf8.count))
        let pieces = Self.originals.map(bytes)
        for _ in 0..<1_000 {
            var body = bytes(original)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                mutate(&body, with: pieces, using: &generator)
            }
            read(body)
        }
    }

    private func mutate(
        _ body: inout [UInt8], with pieces: [[UInt8]], using generator: inout SplitMix
    ) {
        let place = Int.random(in: 0...body.count, using: &generator)
        let end = min(body.count, place + Int.random(in: 1...6, using: &generator))
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: body.removeSubrange(place..<end)
        case 1: body.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 2: body.insert(contentsOf: body[place..<end], at: place)
        case 3:
            let piece = pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            let from = Int.random(in: 0..<piece.count, using: &generator)
            body.replaceSubrange(place..<end, with: piece[from..<min(from + 20, piece.count)])
        default:
            if place < body.count { body[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
        }
    }

    /// Gives the body to each reader, and the params of its calls to each reader of params.
    private func read(_ body: [UInt8]) {
        attempt { () throws(Problem) in try requests.notifications(in: body.span).posts.count }
        attempt { () throws(Problem) in try requests.notificationLines(in: body.span).count }
        attempt { () throws(Problem) in
            try requests.channelPost(name: body, object: body, causedBy: body, body: body.span)
        }
        attempt { () throws(Problem) in try requests.observer(in: body.span, allowsSession: true) }
        attempt { () throws(Problem) in try requests.suspension(in: body.span) }
        attempt { () throws(Problem) in try requests.mode(in: body.span) }
        readQueries(body)
        for call in calls.message(in: body.span).calls {
            switch call {
            case .request(_, _, let params), .notification(_, let params):
                readParams(params, in: body)
            case .response(let id, let content, _, _): readResponse(id, content, in: body)
            case .invalid: break
            }
        }
    }

    /// Gives the body, cut at commas and colons, to each reader of queries.
    private func readQueries(_ body: [UInt8]) {
        let names = [
            "default", "selector", "once", "outcome", "style", "coalesce", "modes", "maxDelay",
            "ttl", "name", "after", "limit",
        ]
        let values = body.split(separator: UInt8(ascii: ":"))
        let query = zip(names, values).map { QueryParameter(name: bytes($0), value: [UInt8]($1)) }
        attempt { () throws(Problem) in
            try requests.channelPost(name: bytes("a"), options: query, body: body.span)
        }
        attempt { () throws(Problem) in try requests.dequeue(query: query) }
        attempt { () throws(Problem) in try requests.mailbox(query: query) }
        attempt { () throws(Problem) in try requests.explain(query: query) }
        attempt { () throws(Problem) in try requests.listing(.asks, query: query) }
        attempt { () throws(Problem) in
            try requests.ask(object: body, selector: body, query: query, content: body.span)
        }
        attempt { () throws(Problem) in try requests.response(query: query, content: body.span) }
        attempt { () throws(Problem) in try requests.response(query: [], content: body.span) }
    }

    private func readResponse(_ id: [UInt8], _ content: Range<Int>, in body: [UInt8]) {
        #expect(content.upperBound <= body.count)
        _ = RPC.delivery(ofID: id.span)
        let error = [UInt8](body[content])
        #expect(RPC.refusal(error: error.span).count <= 1_024)
        for isError in [true, false] {
            let response = requests.response(
                content: content, isError: isError, byteRoom: .max, in: body.span)
            #expect((response.refusal ?? []).count <= 1_024)
        }
    }

    private func readParams(_ params: Range<Int>?, in body: [UInt8]) {
        attempt { () throws(Problem) in try requests.post(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.addObserver(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.removeObserver(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.observers(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.explain(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.dequeue(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.setSuspended(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.resume(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.enterMode(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.leaveMode(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.ask(params: params, in: body.span) }
        attempt { () throws(Problem) in try requests.withdraw(params: params, in: body.span) }
    }

    private func attempt<Value>(_ work: () throws(Problem) -> Value) {
        guard let problem = problem(of: work) else { return }
        let statuses = [400, 403, 413, 422]
        #expect(statuses.contains(problem.kind.status))
        let document = bytes(written { problem.append(to: &$0) })
        // The document is JSON, or its own reader could not read it.
        let message = calls.message(in: document.span)
        #expect(message.calls.first != nil)
        if case .invalid(_, .parseError, let detail)? = message.calls.first {
            Issue.record("a problem is no JSON: \(detail)")
        }
    }
}
