import Testing

@testable import BelfryClient

@Suite("NotificationBuffer")
struct NotificationBufferTests {
    private func notification(_ seq: Int) throws -> ReceivedNotification {
        try ReceivedNotification(
            json: Array(#"{"id":"n","seq":\#(seq),"name":"A","postedAt":"t"}"#.utf8))
    }

    private func buffer(count: Int, byteCount: Int = 1 << 20) -> NotificationBuffer {
        var options = ClientOptions()
        options.bufferCountLimit = count
        options.bufferByteLimit = byteCount
        return NotificationBuffer(options)
    }

    @Test("what fits comes out in order and without a gap")
    func order() async throws {
        let buffer = buffer(count: 200)
        for seq in 0..<200 { buffer.append(try notification(seq)) }
        for seq in 0..<200 {
            let next = try #require(try await buffer.next())
            #expect(next.sequence == UInt64(seq))
            #expect(next.gapBefore == nil)
        }
    }

    @Test("one more than fits drops the oldest, and the next one tells how many are lost")
    func overflow() async throws {
        let buffer = buffer(count: 2)
        buffer.append(.init(lostCount: 4, reason: "unknown"))
        for seq in 1...5 { buffer.append(try notification(seq)) }
        let first = try #require(try await buffer.next())
        #expect(first.sequence == 4)
        #expect(first.gapBefore == .init(lostCount: 7, reason: "unknown"))
        #expect(try await buffer.next()?.gapBefore == nil)
    }

    @Test("bytes are limited too, but the newest notification is always kept")
    func bytes() async throws {
        let buffer = buffer(count: 10, byteCount: 1)
        for seq in 1...3 { buffer.append(try notification(seq)) }
        let next = try #require(try await buffer.next())
        #expect(next.sequence == 3)
        #expect(next.gapBefore == .init(lostCount: 2, reason: "overflow"))
    }

    @Test("what is to be answered is not dropped: something else is, also what came last")
    func answered() async throws {
        let buffer = buffer(count: 2)
        for seq in 1...5 {
            var notification = try notification(seq)
            if seq != 2 { notification.call = "o1:\(seq)" }
            buffer.append(notification)
        }
        buffer.append(try notification(6))
        for seq: UInt64 in [1, 3, 4, 5] {
            let next = try #require(try await buffer.next())
            #expect(next.sequence == seq)
            let gap = ReceivedNotification.Gap(lostCount: 1, reason: "overflow")
            #expect(next.gapBefore == (seq == 3 ? gap : nil))
        }
        buffer.append(try notification(7))
        #expect(try await buffer.next()?.gapBefore?.lostCount == 1)
    }

    @Test("a reader that waits gets what comes next")
    func waits() async throws {
        let buffer = buffer(count: 1)
        async let next = buffer.next()
        buffer.append(try notification(1))
        #expect(try await next?.sequence == 1)
    }

    @Test("a cancelled reader gets nothing, before and while it waits")
    func cancellation() async throws {
        let buffer = buffer(count: 1)
        let reader = Task { try await buffer.next() }
        reader.cancel()
        #expect(try await reader.value == nil)
        buffer.append(try notification(1))
        #expect(try await buffer.next()?.sequence == 1)
    }

    @Test("the end comes behind what is there, or at once")
    func end() async throws {
        let first = buffer(count: 2)
        first.append(try notification(1))
        first.finish(.connectionLost, discarding: false)
        first.append(try notification(2))
        #expect(try await first.next()?.sequence == 1)
        await #expect(throws: ClientError.connectionLost) { try await first.next() }
        let second = buffer(count: 2)
        second.append(try notification(1))
        second.finish(nil, discarding: true)
        #expect(try await second.next() == nil)
    }
}
