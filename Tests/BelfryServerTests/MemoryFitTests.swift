import Testing

@testable import BelfryServer

@Suite("Limits that fit the memory (DESIGN section 6)")
struct MemoryFitTests {
    private static let mebibyte = 1 << 20

    @Test("limits that fit stay as they are: at the border nothing is lowered")
    func fits() {
        var configuration = ServerConfiguration()
        let sum =
            configuration.queueByteLimit + configuration.heldByteLimit
            + configuration.unsentByteLimit + configuration.unfinishedByteLimit
        #expect(sum == 472 * Self.mebibyte)
        #expect(configuration.fit(to: 2 * sum) == [])
        #expect(configuration.heldByteLimit == 256 * Self.mebibyte)
        #expect(configuration.fit(to: 2 * sum - 2).count == 4)
    }

    @Test(
        "otherwise all are lowered by one factor, to half of the memory",
        arguments: [
            (472, 32, 128, 64, 12), (944, 64, 256, 128, 24), (236, 16, 64, 32, 6),
            (118, 8, 32, 16, 3), (1, 1, 1, 1, 1), (0, 1, 1, 1, 1),
        ])
    func lowered(memory: Int, queue: Int, held: Int, unsent: Int, unfinished: Int) {
        var configuration = ServerConfiguration()
        _ = configuration.fit(to: memory * Self.mebibyte)
        #expect(configuration.queueByteLimit == queue * Self.mebibyte)
        #expect(configuration.heldByteLimit == held * Self.mebibyte)
        #expect(configuration.unsentByteLimit == unsent * Self.mebibyte)
        #expect(configuration.unfinishedByteLimit == unfinished * Self.mebibyte)
    }

    @Test("a limit that is below the least one stays, and what was lowered is told")
    func least() {
        var configuration = ServerConfiguration()
        configuration.queueByteLimit = 1_000
        let lowered = configuration.fit(to: 100 * Self.mebibyte)
        #expect(configuration.queueByteLimit == 1_000)
        #expect(lowered.map(\.option) == ["hold-limit", "unsent-limit", "unfinished-limit"])
    }
}
