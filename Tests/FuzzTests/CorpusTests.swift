import Foundation
import FuzzTargets
import Testing

/// The committed inputs of the fuzzer, read again by each run of the suite.
@Suite struct CorpusTests {
    /// The inputs of a target, by the names of their files.
    private static func corpus(of target: FuzzTarget) throws -> [(name: String, input: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Corpora/\(target.rawValue)")
        return try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil
        )
        .sorted { $0.lastPathComponent < $1.lastPathComponent }
        .map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
    }

    @Test(arguments: FuzzTarget.allCases)
    func `each committed input is read the same way whole and in pieces`(
        target: FuzzTarget
    ) throws {
        let corpus = try Self.corpus(of: target)
        #expect(corpus.count >= 3)
        for (name, input) in corpus {
            #expect(target.fault(in: input) == nil, "\(target.rawValue)/\(name)")
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func `so are inputs in which some bytes were changed, doubled or lost`(
        target: FuzzTarget
    ) throws {
        var state: UInt64 = 0x5DEE_CE66
        func random(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for (name, input) in try Self.corpus(of: target) {
            for round in 0..<50 {
                var changed = input
                for _ in 0...random(below: 3) where !changed.isEmpty {
                    let place = random(below: changed.count)
                    switch random(below: 4) {
                    case 0: changed[place] = UInt8(random(below: 256))
                    case 1: changed.remove(at: place)
                    case 2: changed.insert(changed[random(below: changed.count)], at: place)
                    default: changed.append(contentsOf: changed[place...].prefix(40))
                    }
                }
                let fault = target.fault(in: changed)
                #expect(fault == nil, "\(target.rawValue)/\(name), round \(round): \(changed)")
                if fault != nil { return }
            }
        }
    }
}
