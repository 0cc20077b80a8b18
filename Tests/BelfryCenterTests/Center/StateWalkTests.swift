import TestSupport
import Testing

@testable import BelfryCenter

@Suite("StateWalk")
struct StateWalkTests {
    /// A type as it is, and as it would be with one more property.
    private enum Planted {
        struct Part { var first = 1 }
        enum Later {
            struct Part {
                var first = 1
                var second = 2
            }
        }
        final class Shared {
            let number: Int
            init(number: Int) { self.number = number }
        }
    }

    private enum Choice {
        case none, other
        case first(Int), second(Int)
    }

    private static let kind = ObservedKind(
        observer: 1, Notification.Content(name: bytes("n")))

    @Test("each property that is not walked as it is exists")
    func names() {
        var shard = Shard(limits: CenterLimits(), seed: HashSeed(1, 2))
        _ = shard.makeCenter(bytes("a"), epoch: bytes("e"))
        var values = ValueTable(seed: HashSeed(1, 2))
        _ = values.makeSlot(of: bytes("o"))
        var tickets = TicketTable<[UInt8]>()
        let hash = SecretHash(high: 1, low: 2)
        _ = tickets.insert(hash, for: bytes("p"), holder: bytes("h"), share: 9, now: 0)
        var channels = ChannelTable(seed: HashSeed(1, 2), unobservedNameLimit: 1)
        _ = channels.countPost(name: bytes("n").span, at: 1)
        let walk = StateWalk((shard, values, tickets, channels, Self.kind))
        #expect(Set(StateWalk.treatments.keys) == walk.treated)
    }

    @Test("one more property changes the digest, and so does its value")
    func plantedProperty() {
        let digests = [
            stateDigest(of: Planted.Part()), stateDigest(of: Planted.Later.Part()),
            stateDigest(of: Planted.Later.Part(second: 3)),
        ]
        #expect(Set(digests).count == 3)
        #expect(
            differences(Planted.Part(), Planted.Later.Part())
                == [": 1 properties, 2 properties", ".second: none, 2"])
    }

    @Test("values that differ anywhere have other digests")
    func differing() {
        let values: [Any] = [
            Choice.none, Choice.other, Choice.first(1), Choice.second(1), Choice.first(2),
            [UInt8]?.none as Any, [UInt8]?.some([]) as Any, [UInt8]?.some([0]) as Any,
            [[Int]]([[1], []]), [[Int]]([[], [1]]), ["a", "bc"], ["ab", "c"], [1: "a"], [2: "a"],
            [1: "b"], Set([1]), Set([2]), 1...2, 1...3, true, false, Planted.Shared(number: 4),
            Planted.Shared(number: 5), InlineArray<2, Int>(repeating: 6),
            InlineArray<2, Int>(repeating: 7), SIMD4<Int64>(repeating: 8),
            SIMD4<Int64>(repeating: 9),
        ]
        #expect(Set(values.map { stateDigest(of: $0) }).count == values.count)
        for value in values { #expect(differences(value, value) == []) }
    }

    @Test("dictionaries and sets have no order, and an empty list in one says as much as none")
    func unordered() {
        var (first, second) = ([Int: [Int]](), [Int: [Int]]())
        var (low, high) = (Set<Int>(), Set<Int>(minimumCapacity: 1_000))
        for number in 0..<100 {
            first[number] = [number]
            second[99 - number] = [99 - number]
            low.insert(number)
            high.insert(99 - number)
        }
        second[100] = []
        #expect(stateDigest(of: first) == stateDigest(of: second))
        #expect(differences(first, second) == [])
        #expect(stateDigest(of: low) == stateDigest(of: high))
        second[7] = [8]
        #expect(stateDigest(of: first) != stateDigest(of: second))
        #expect(differences(first, second) == ["[7].value: [7], [8]"])
    }

    @Test("the elements of a ring count in their order, and its room does not")
    func rings() {
        var (small, large) = (Ring<Int>(), Ring<Int>())
        for number in 0..<40 {
            large.append(number)
            small.append(number)
            if number < 30 { small.removeFirst() }
        }
        for _ in 0..<30 { large.removeFirst() }
        #expect(small.footprint < large.footprint)
        #expect(stateDigest(of: small) == stateDigest(of: large))
        large.update(35) { $0 = 0 }
        #expect(stateDigest(of: small) != stateDigest(of: large))
    }

    @Test("intervals that are over do not count, and running ones do")
    func intervals() {
        func center(_ end: Int64) -> NotificationCenter {
            var center = NotificationCenter(
                name: bytes("a"), epoch: bytes("e"), limits: CenterLimits(), seed: HashSeed(1, 2))
            center.lastTime = 10
            center.backlog.paces.begin(Self.kind, until: end, at: 0)
            return center
        }
        let digests = [9, 10, 11, 12].map { stateDigest(of: center($0)) }
        #expect(digests[0] == digests[1] && Set(digests).count == 3)
    }
}
