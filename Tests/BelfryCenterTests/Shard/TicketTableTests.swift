import Testing

@testable import BelfryCenter

@Suite("TicketTable")
struct TicketTableTests {
    private static func hash(_ number: UInt64) -> SecretHash {
        SecretHash(high: number, low: number)
    }

    @Test("a ticket is good once, for 30 s, and there are only so many")
    func tickets() {
        var tickets = TicketTable<Int>(limit: 2)
        func insert(_ number: UInt64, _ principal: String, now: Int64) -> Bool {
            tickets.insert(
                Self.hash(number), for: bytes(principal), holder: Int(number), share: 2, now: now)
        }
        func take(_ number: UInt64, now: Int64) -> Int? {
            tickets.take(Self.hash(number), now: now)
        }
        #expect(insert(1, "a", now: 0))
        #expect(take(1, now: 1) == 1)
        #expect(take(1, now: 1) == nil)
        #expect(insert(2, "a", now: 0))
        #expect(take(2, now: TicketTerms.lifetime) == nil)
        #expect(insert(3, "a", now: 0))
        #expect(insert(4, "a", now: 0))
        #expect(!insert(5, "b", now: 1))
        #expect(insert(5, "a", now: TicketTerms.lifetime))
        #expect(take(3, now: TicketTerms.lifetime) == nil)
        tickets.removeAll()
        #expect(take(5, now: TicketTerms.lifetime) == nil)
    }

    @Test("the oldest ticket of a principal goes for its newest, used ones do not count")
    func share() {
        var tickets = TicketTable<Int>(limit: 100)
        let (one, two) = (bytes("one"), bytes("two"))
        let isFirst = tickets.insert(Self.hash(9_999), for: two, holder: 2, share: 3, now: 0)
        #expect(isFirst)
        func insert(_ number: UInt64) -> Bool {
            tickets.insert(Self.hash(number), for: one, holder: 1, share: 3, now: 0)
        }
        func take(_ number: UInt64) -> Int? { tickets.take(Self.hash(number), now: 1) }
        // The same ticket is not made twice.
        #expect(!insert(9_999))
        for number: UInt64 in 0..<5_000 {
            #expect(insert(number))
            // Each third one is used at once.
            if number % 3 == 0 { #expect(take(number) == 1) }
        }
        let left = (0..<5_000).filter { take($0) != nil }
        #expect(left == [4_996, 4_997, 4_999])
        #expect(take(9_999) == 2)
        #expect(tickets.count == 0)
    }
}
