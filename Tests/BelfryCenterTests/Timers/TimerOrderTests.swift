import Testing

@testable import BelfryCenter

@Suite("TimerOrder")
struct TimerOrderTests {
    @Test("it keeps random items as a sorted array does", arguments: 1...8)
    func keepsTheOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var order = TimerOrder()
        var model: [TimerOrder.Item] = []
        for ordinal in 1...6_000 as ClosedRange<UInt64> {
            if !model.isEmpty, Int.random(in: 0..<5, using: &generator) < (ordinal > 3_000 ? 4 : 1)
            {
                let item = model.remove(at: Int.random(in: 0..<model.count, using: &generator))
                order.remove(item)
            } else {
                let item = TimerOrder.Item(
                    due: Int64.random(in: 0..<500, using: &generator), ordinal: ordinal,
                    slot: UInt32(ordinal))
                model.append(item)
                order.insert(item)
            }
            #expect(order.count == model.count)
            if ordinal % 500 == 0 {
                model.sort()
                #expect(items(of: order) == model && order.first == model.first)
                let start = model.count / 3
                #expect(items(of: order, from: start) == Array(model[start...]))
            }
        }
    }

    @Test("what comes in order fills its pieces, and all of it goes from the front")
    func inOrder() {
        var order = TimerOrder()
        for number in 0..<1_000 as Range<UInt64> {
            order.insert(TimerOrder.Item(due: Int64(number), ordinal: number, slot: 0))
        }
        for number in 0..<1_000 as Range<UInt64> {
            guard let first = order.first else {
                Issue.record("it has \(1_000 - number) more")
                return
            }
            #expect(first.ordinal == number)
            order.remove(first)
        }
        #expect(order.first == nil && order.count == 0)
    }

    private func items(of order: TimerOrder, from start: Int = 0) -> [TimerOrder.Item] {
        var items: [TimerOrder.Item] = []
        order.forEach(from: start) {
            items.append($0)
            return true
        }
        return items
    }
}
