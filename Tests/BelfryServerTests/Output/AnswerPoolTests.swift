import Testing

@testable import BelfryServer

/// The storage of answers is used again, and what is kept has bounds.
@Suite("The pool of answers")
struct AnswerPoolTests {
    /// The capacity of the next answer's content, which must be empty.
    private func nextCapacity(_ pool: inout AnswerPool) -> Int {
        let answer = pool.make()
        let (count, capacity) = (answer.content.count, answer.content.capacity)
        #expect(count == 0)
        return capacity
    }

    /// Makes several answers at a time, each with this many bytes, and gives them back.
    private func fill(_ pool: inout AnswerPool, depth: Int, byteCount: Int) {
        if depth == 0 { return }
        var answer = pool.make()
        answer.content.append(contentsOf: [UInt8](repeating: 7, count: byteCount))
        fill(&pool, depth: depth - 1, byteCount: byteCount)
        pool.reclaim(answer)
    }

    @Test("an answer has the storage of the one before, and nothing of its content")
    func reuse() {
        var pool = AnswerPool()
        fill(&pool, depth: 1, byteCount: 1_000)
        let capacity = nextCapacity(&pool)
        #expect(capacity >= 1_000)
    }

    @Test("storage of more than a MiB is not kept")
    func largeStorage() {
        var pool = AnswerPool()
        fill(&pool, depth: 1, byteCount: (1 << 20) + 1)
        let capacity = nextCapacity(&pool)
        #expect(capacity == 0)
    }

    @Test("of answers within each other the storage of the outermost is kept")
    func nesting() {
        var pool = AnswerPool()
        fill(&pool, depth: 9, byteCount: 100)
        let capacities = (0..<2).map { _ in nextCapacity(&pool) }
        #expect(capacities.map { $0 >= 100 } == [true, false])
    }

    @Test("an answer waits for the latest of its tickets")
    func tickets() {
        var pool = AnswerPool()
        var answer = pool.make()
        answer.wait(until: 7)
        answer.wait(until: 0)
        answer.wait(until: 5)
        let ticket = answer.ticket
        #expect(ticket == 7)
        pool.reclaim(answer)
    }
}
