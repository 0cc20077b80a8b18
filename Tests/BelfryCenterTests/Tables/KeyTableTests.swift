import Testing

@testable import BelfryCenter

@Suite("KeyTable")
struct KeyTableTests {
    @Test("equal keys have one number, and it is found again")
    func sameKey() {
        var table = KeyTable(seed: HashSeed(1, 2))
        let first = table.insert(bytes("a").span)
        let second = table.insert(bytes("a").span)
        #expect(first.isNew && !second.isNew)
        #expect(first.index == second.index)
        #expect(table.index(of: bytes("a").span) == first.index)
        #expect(table.index(of: bytes("b").span) == nil)
        #expect(table.key(at: first.index) == bytes("a"))
    }

    @Test("canonically equivalent texts are different keys")
    func bytesCount() {
        var table = KeyTable(seed: HashSeed(1, 2))
        let composed = table.insert(bytes("caf\u{e9}").span)
        let decomposed = table.insert(bytes("cafe\u{301}").span)
        #expect(composed.index != decomposed.index)
    }

    @Test("the number of a removed key is used again, and the key is gone")
    func reuse() {
        var table = KeyTable(seed: HashSeed(1, 2))
        let first = table.insert(bytes("a").span).index
        _ = table.insert(bytes("b").span)
        table.remove(at: first)
        #expect(table.index(of: bytes("a").span) == nil)
        #expect(table.count == 1)
        #expect(table.insert(bytes("c").span).index == first)
        #expect(table.indexLimit == 2)
    }

    @Test("random insertions and removals agree with a dictionary", arguments: 1...6)
    func randomComparison(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = KeyTable(seed: HashSeed(generator.next(), generator.next()))
        var model: [[UInt8]: UInt32] = [:]
        // The bound changes, so that the table grows, empties and grows again.
        for step in 0..<6_000 {
            let bound = [40, 4_000, 3][step / 2_000]
            let key = bytes("key\(generator.below(bound))")
            if generator.below(5) < 3 {
                let (index, isNew) = table.insert(key.span)
                check(isNew == (model[key] == nil))
                if let known = model[key] { check(index == known) }
                model[key] = index
            } else if let index = model.removeValue(forKey: key) {
                table.remove(at: index)
            }
            check(table.index(of: key.span) == model[key])
            check(table.count == model.count)
        }
        for (key, index) in model {
            check(table.index(of: key.span) == index)
            check(table.key(at: index) == key)
        }
        check(Set(model.values).count == model.count)
    }

    @Test("the hash is SipHash-1-3 with the published results for the key 00 to 0f")
    func sipVectors() {
        let seed = HashSeed(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
        let expected: [UInt64] = [
            0xabac_0158_050f_c4dc, 0xc9f4_9bf3_7d57_ca93, 0x82cb_9b02_4dc7_d44d,
            0x8bf8_0ab8_e7dd_f7fb,
        ]
        for (count, hash) in expected.enumerated() {
            let input = [UInt8]((0..<count).map { UInt8($0) })
            #expect(sipHash(input.span, seed: seed) == hash)
        }
    }
}
