import Testing

@testable import BelfryAccess
@testable import BelfryServer

@Suite("TicketTable")
struct TicketTests {
    @Test("a ticket is good once, for 30 s, and there are only so many")
    func tickets() throws {
        var tickets = TicketTable(limit: 2)
        func digest(_ number: UInt8) throws -> TokenDigest {
            try #require(TokenDigest(Array(repeating: number, count: 32)))
        }
        let caller = Caller.anonymous(.none)
        #expect(tickets.insert(try digest(1), for: caller, share: 2, now: 0))
        #expect(tickets.take(try digest(1), now: 1) === caller)
        #expect(tickets.take(try digest(1), now: 1) == nil)
        #expect(tickets.insert(try digest(2), for: caller, share: 2, now: 0))
        #expect(tickets.take(try digest(2), now: TicketTable.lifetime) == nil)
        #expect(tickets.insert(try digest(3), for: caller, share: 2, now: 0))
        #expect(tickets.insert(try digest(4), for: caller, share: 2, now: 0))
        let other = Caller(principal: Array("other".utf8), grants: .none, origin: .anonymous)
        #expect(!tickets.insert(try digest(5), for: other, share: 2, now: 1))
        #expect(tickets.insert(try digest(5), for: caller, share: 2, now: TicketTable.lifetime))
        #expect(tickets.take(try digest(3), now: TicketTable.lifetime) == nil)
        tickets.removeAll()
        #expect(tickets.take(try digest(5), now: TicketTable.lifetime) == nil)
    }

    @Test("the oldest ticket of a principal goes for its newest, used ones do not count")
    func ticketShare() throws {
        var tickets = TicketTable(limit: 100)
        func digest(_ number: Int) throws -> TokenDigest {
            let bytes = [UInt8(number >> 8), UInt8(number & 0xFF)]
            return try #require(TokenDigest(bytes + Array(repeating: 0, count: 30)))
        }
        let one = Caller(principal: Array("one".utf8), grants: .none, origin: .anonymous)
        let two = Caller(principal: Array("two".utf8), grants: .none, origin: .anonymous)
        #expect(tickets.insert(try digest(9_999), for: two, share: 3, now: 0))
        for number in 0..<5_000 {
            #expect(tickets.insert(try digest(number), for: one, share: 3, now: 0))
            // Each third one is used at once.
            if number % 3 == 0 { #expect(tickets.take(try digest(number), now: 1) === one) }
        }
        let left = try (0..<5_000).filter { tickets.take(try digest($0), now: 1) != nil }
        #expect(left == [4_996, 4_997, 4_999])
        #expect(tickets.take(try digest(9_999), now: 1) === two)
    }
}
