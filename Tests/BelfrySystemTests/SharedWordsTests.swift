import BelfrySystem
import Foundation
import Testing

@Suite("SharedWords: what outlives a process")
struct SharedWordsTests {
    private let name = "belfry-test-\(UUID().uuidString)"
    private var path: String { "/dev/shm/\(name)" }

    /// Reads what is left; nil where that says nothing.
    private func left(_ range: Range<Int>, of count: Int) -> [UInt64]? {
        guard let words = LeftWords(name: name, count: count) else { return nil }
        return words.read(range)
    }

    @Test("what was written is read under the name, also when its writer has gone")
    func written() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        do {
            let words = try SharedWords(name: name, count: 2_048)
            try words.reserve(512..<1_024)
            words.write(7, at: 512)
            words.write(.max, at: 1_023)
            try words.reserve(2_047..<2_048)
            words.write(9, at: 2_047)
        }
        #expect(left(512..<514, of: 2_048) == [7, 0])
        #expect(left(1_022..<1_024, of: 2_048) == [0, .max])
        #expect(left(0..<1, of: 2_048) == [0] && left(2_047..<2_048, of: 2_048) == [9])
        #expect(left(2_047..<2_049, of: 2_048) == [])
    }

    @Test("a new one begins with nothing, in the place of the one before")
    func anew() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = try SharedWords(name: name, count: 8)
        try first.reserve(0..<8)
        first.write(7, at: 0)
        _ = try SharedWords(name: name, count: 8)
        #expect(left(0..<8, of: 8) == [0, 0, 0, 0, 0, 0, 0, 0])
        first.write(8, at: 1)
    }

    @Test("what is not there, has another size, or others could have written, says nothing")
    func refused() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(left(0..<8, of: 8) == nil)
        _ = try SharedWords(name: name, count: 8)
        #expect(left(0..<9, of: 9) == nil)
        #expect(left(0..<8, of: 8) != nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o620], ofItemAtPath: path)
        #expect(left(0..<8, of: 8) == nil)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        #expect(left(0..<8, of: 8) == nil)
    }
}
