import BelfryCenter
import BelfryStore
import Testing

@testable import BelfryServer

@Suite("Beginning (Architecture.md section 7)")
struct BeginningTests {
    @Test("law 4: a restored center's next numbers are reserved before anybody is given one")
    func reservation() throws {
        let name = Array("default".utf8)
        var store = MemoryStore()
        try store.commit([
            .center(name: name, .center(CenterRecord(epoch: Array("e".utf8)))),
            .center(name: name, .sequenceReserved(through: 5)),
        ])
        let beginning = try Beginning(of: &store, epoch: "f")
        #expect(beginning.centers.map(\.sequence) == [5])
        let stored = try store.load()
        #expect(stored.centers.map(\.sequence) == [5 + NotificationCenter.sequenceBlock])
        #expect(stored.centers.map(\.epoch) == [Array("e".utf8)])
    }

    @Test("a store that tells anew, since its disk was full, is not restored twice")
    func toldAnew() throws {
        var store = MemoryStore()
        let name = Array("default".utf8)
        try store.commit([.center(name: name, .center(CenterRecord(epoch: Array("e".utf8))))])
        store.restart(isCopied: true)
        var restoration = StateRestoration(
            limits: CenterLimits(), kept: KeptMemory(limitedBy: ServerConfiguration()),
            at: .embeddedStart
        ) { [1] }
        for _ in 0..<2 { try store.load { restoration.take($0) } }
        try store.commit(restoration.start())
        let beginning = restoration.finish()
        #expect(beginning.centers.map(\.epoch) == [[1]])
    }

    @Test("a lease does not run while the state is restored, and does from then on")
    func leases() throws {
        let (broker, store) = try Broker.durable()
        let socket = try broker.webSocket()
        try socket.send(socket.call("addObserver", #"{"name":"a","lease":30}"#))
        try store.commit(in: broker)
        let start = CommandTime.embeddedStart
        // The restoring began a minute before there was a loop.
        let early = CommandTime(
            wallMilliseconds: start.wallMilliseconds - 60_000,
            monotonicNanoseconds: start.monotonicNanoseconds - 60_000_000_000)
        let next = try Broker(beginning: store.beginning(at: early))
        try next.advance(by: .seconds(29))
        #expect(try next.get("/v1/observers").json["observers"].elements.count == 1)
        try next.advance(by: .seconds(2))
        try store.commit(in: next)
        #expect(try next.get("/v1/observers").json["observers"].elements == [])
    }

    @Test("observers past the limit of memory are restored, and another is refused with the option")
    func full() throws {
        let (broker, store) = try Broker.durable()
        let socket = try broker.webSocket()
        for number in 0..<1_200 {
            try socket.send(socket.call("addObserver", #"{"name":"a\#(number)","lease":30}"#))
        }
        try store.commit(in: broker)
        let next = try Broker(beginning: store.beginning()) { $0.memory.observers = 1 << 18 }
        try next.crank()
        #expect(next.shared.totals[.observers] > 1 << 18)
        let refused = try next.post(#"{"name":"b"}"#, target: "/v1/observers")
        #expect(refused.status == 503)
        #expect(refused.json["detail"].text?.contains("--observer-memory") == true)
        // Leases run meanwhile, and what ends makes room.
        try next.advance(by: .seconds(31))
        try store.commit(in: next)
        try next.crank()
        let other = try next.webSocket()
        _ = try other.result("addObserver", #"{"name":"b","lifetime":"connection"}"#)
    }
}
