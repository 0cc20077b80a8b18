import BelfryCenter
import BelfryWire
import Testing

@Suite("RPC and EventStream")
struct NoticeTests {
    private let welcome = Welcome(
        client: 4, session: bytes("c4.Qz"), center: bytes("default"), epoch: bytes("k3"),
        sequence: 1_841)
    private let welcomeText =
        #"{"client":"c4","session":"c4.Qz","center":"default","epoch":"k3","seq":1841,"#
        + #""pingInterval":2.5}"#

    private func gap() throws -> Gap {
        var limits = CenterLimits()
        limits.replayCountLimit = 1
        var bench = Bench(limits: limits)
        for _ in 0..<3 { bench.post("a") }
        bench.observe(17, name: "a", since: 0)
        guard case .gap(_, _, let gap)? = bench.effects.notices.first else {
            throw Problem(.notFound, "the center must tell a gap")
        }
        return gap
    }

    private let gapText =
        #"{"observer":"o17","selector":"input:","lost":null,"firstSeq":1,"lastSeq":2,"#
        + #""reason":"unknown"}"#

    private func tombstone() throws -> Tombstone {
        var bench = Bench()
        bench.observe(17, name: "a")
        bench.apply(.removeObserver(serial: 17, by: .principal(bytes("ops"))))
        return try #require(bench.center.tombstone(17))
    }

    private let removedText = #"{"observer":"o17","reason":"removed","removedBy":"ops"}"#

    @Test("a delivery calls the selector with the notification")
    func delivery() {
        var bench = Bench()
        let notification = bench.post("a", userInfo: "{\n}")
        let shape = written {
            Shape.append(notification: notification, isRedelivered: true, to: &$0)
        }
        var writer = DeliveryWriter()
        let delivery = written {
            writer.append(
                notification, calling: bytes("in\"put:"), isRedelivered: true, to: &$0)
        }
        #expect(delivery == #"{"jsonrpc":"2.0","method":"in\"put:","params":\#(shape)}"#)
        #expect(shape.contains("{\n}"))
    }

    @Test("one writer writes deliveries of any selectors and times as fresh ones do")
    func deliveries() {
        var bench = Bench()
        var writer = DeliveryWriter()
        for (selector, wait) in [("a", 0), ("a", 0), ("b", 0), ("", 7), ("a", 0), ("a", 1)] {
            bench.now += Int64(wait) * 1_000_000
            let notification = bench.post("name", userInfo: "{}")
            var fresh = DeliveryWriter()
            let expected = written {
                fresh.append(
                    notification, calling: bytes(selector), isRedelivered: false, to: &$0)
            }
            let delivery = written {
                writer.append(
                    notification, calling: bytes(selector), isRedelivered: false, to: &$0)
            }
            #expect(delivery == expected)
            let shape = written {
                Shape.append(notification: notification, isRedelivered: false, to: &$0)
            }
            #expect(delivery == #"{"jsonrpc":"2.0","method":"\#(selector)","params":\#(shape)}"#)
        }
    }

    @Test("an event has the position as its id, and its data in one line")
    func event() {
        var bench = Bench()
        let notification = bench.post("a", userInfo: "{\r\n\"x\":\n[\r1,\"\\n\"]}")
        let event = written {
            EventStream.append(
                notification: notification, epoch: bytes("k3"), isRedelivered: false, to: &$0)
        }
        let expected =
            "id: k3-1\ndata: {\"id\":\"\(Bench.idText)\",\"seq\":1,\"name\":\"a\","
            + "\"userInfo\":{  \"x\": [ 1,\"\\n\"]},\"postedAt\":\"2026-11-21T08:00:00.000Z\"}\n\n"
        #expect(event == expected)
    }

    @Test("welcome, gap and removed are JSON-RPC notifications with reserved methods")
    func rpcNotices() throws {
        func message(_ method: String, _ params: String) -> String {
            #"{"jsonrpc":"2.0","method":"belfry.\#(method)","params":\#(params)}"#
        }
        #expect(
            written {
                RPC.append(welcome: welcome, pingInterval: Array("2.5".utf8), to: &$0)
            } == message("welcome", welcomeText))
        let gap = try gap()
        #expect(written { RPC.append(gap: gap, to: &$0) } == message("gap", gapText))
        let tombstone = try tombstone()
        #expect(
            written { RPC.append(removed: 17, tombstone, to: &$0) }
                == message("removed", removedText))
    }

    @Test("gap and removed are events with a type and no id")
    func eventNotices() throws {
        func event(_ type: String, _ data: String) -> String {
            "event: belfry.\(type)\ndata: \(data)\n\n"
        }
        let gap = try gap()
        #expect(written { EventStream.append(gap: gap, to: &$0) } == event("gap", gapText))
        let tombstone = try tombstone()
        #expect(
            written { EventStream.append(removed: 17, tombstone, to: &$0) }
                == event("removed", removedText))
        #expect(written { EventStream.append(comment: "belfry", to: &$0) } == ": belfry\n\n")
        #expect(
            written { EventStream.append(retryMilliseconds: 2_500, to: &$0) } == "retry: 2500\n\n")
    }

    @Test(
        "a position comes back as it went",
        arguments: [("k3", 1), ("a-b-", 18_446_744_073_709_551_615), ("é", 0)]
            as [(String, UInt64)])
    func position(epoch: String, sequence: UInt64) throws {
        var id: [UInt8] = []
        EventStream.appendPosition(epoch: bytes(epoch), sequence: sequence, to: &id)
        let position = EventStream.position(of: id.span)
        #expect(position?.epoch == bytes(epoch))
        #expect(position?.sequence == sequence)
    }

    @Test(
        "what is no position is nil",
        arguments: ["", "-", "k3", "k3-", "-1", "k3-01", "k3- 1", "k3-18446744073709551616", "7"])
    func noPosition(id: String) {
        let id = bytes(id)
        #expect(EventStream.position(of: id.span) == nil)
    }

    @Test("a result stands between its two ends, with the id as it came")
    func result() {
        let answer = written {
            RPC.beginResult(id: bytes(#""\u0061""#), to: &$0)
            Shape.append(removedCount: 1, to: &$0)
            RPC.endResult(to: &$0)
        }
        #expect(answer == #"{"jsonrpc":"2.0","id":"\u0061","result":{"removed":1}}"#)
    }

    @Test(
        "the faults of JSON-RPC have the codes of the specification",
        arguments: [
            (RPCErrorCode.parseError, #"{"code":-32700,"message":"Parse error"}"#),
            (.invalidRequest, #"{"code":-32600,"message":"Invalid Request"}"#),
            (.methodNotFound, #"{"code":-32601,"message":"Method not found"}"#),
            (.invalidParams, #"{"code":-32602,"message":"Invalid params"}"#),
            (.internalError, #"{"code":-32603,"message":"Internal error"}"#),
        ])
    func errors(code: RPCErrorCode, expected: String) {
        #expect(
            written { RPC.append(error: code, id: bytes("null"), to: &$0) }
                == #"{"jsonrpc":"2.0","id":null,"error":\#(expected)}"#)
        let detailed = expected.dropLast() + #","data":{"detail":"d\""}}"#
        #expect(
            written { RPC.append(error: code, detail: "d\"", id: bytes("1"), to: &$0) }
                == #"{"jsonrpc":"2.0","id":1,"error":\#(detailed)}"#)
    }

    @Test("a problem of ours is the data of error -32000")
    func problems() {
        let problem = Problem(.notFound, "d")
        let document = written { problem.append(to: &$0) }
        #expect(
            written { RPC.append(problem: problem, id: bytes("3"), to: &$0) }
                == #"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"Not found","#
                + #""data":\#(document)}}"#)
    }
}
