import BelfryJSON
import Testing

@testable import BelfryCenter

@Suite("TagKey: the tags of a store are its own (Rules.md, V14)")
struct TagKeyTests {
    private static func document(_ text: String) throws -> Document {
        try Document.parse(bytes(text).span)
    }

    @Test("V14: a tag has all of its key in both halves, and none is that of another key")
    func keys() throws {
        let value = try Self.document(#""1234""#)
        let keys = [
            TagKey.known, TagKey(high: 1, low: 2), TagKey(high: 1, low: 3), TagKey(high: 2, low: 2),
        ]
        let tags = keys.map { ValueTag(of: value, key: $0) }
        #expect(Set(tags.map(\.high)).count == keys.count)
        #expect(Set(tags.map(\.low)).count == keys.count)
        #expect(ValueTag(of: value, key: keys[1]) == tags[1])
        #expect(try ValueTag(of: Self.document(#""1235""#), key: keys[1]) != tags[1])
    }

    @Test("V14: a shard gives its key to the centers that it has, makes and takes")
    func shards() throws {
        var shard = Shard(limits: CenterLimits(), seed: HashSeed(1, 2))
        let first = shard.makeCenter(bytes("a"), epoch: bytes("e"))
        let key = TagKey(high: 7, low: 8)
        shard.tagKey = key
        let second = shard.makeCenter(bytes("b"), epoch: bytes("e"))
        let third = shard.take(
            NotificationCenter(
                name: bytes("c"), epoch: bytes("e"), limits: CenterLimits(), seed: HashSeed(3, 4)))
        for place in [first, second, third] {
            #expect(shard.centers[place].values.tagKey == key)
        }
    }

    @Test("V14: below level 4 a log has the known key, and its snapshots are as they were")
    func levels() throws {
        var log = LogScenario()
        try log.write("n1", .nodeUp(level: 4), .level(3, TagKey(high: 5, low: 6)))
        try log.write("n1", .makeCenter(bytes("a"), epoch: bytes("e1")))
        #expect(log.shard.tagKey == .known)
        #expect(log.shard.snapshot().first == 2)
        try log.write("n1", .level(4, TagKey(high: 5, low: 6)))
        #expect(log.shard.snapshot().first == 3)
        try log.restore()
        #expect(log.shard.tagKey == TagKey(high: 5, low: 6))
        #expect(log.shard.centers[0].values.tagKey == log.shard.tagKey)
    }
}
