import Testing

@testable import BelfryServer

@Suite("Limits that fit the memory (decision 72)")
struct MemoryFitTests {
    private static let mebibyte = 1 << 20

    @Test("a limit that is its part of the memory stays, and one above it is lowered")
    func border() {
        var configuration = ServerConfiguration()
        let memory = 4 * (MemoryKind.programByteCount + 100_000 * 1_000)
        configuration.memory.observers = 100_000 * 310
        configuration.memory.replay = 100_000 * 100 + 1
        let lowered = configuration.fit(to: memory)
        #expect(configuration.memory.observers == 100_000 * 310)
        #expect(configuration.memory.replay == 100_000 * 100)
        #expect(!lowered.contains { $0.kind == .observers })
        #expect(lowered.contains(.init(kind: .replay, byteLimit: 100_000 * 100)))
    }

    @Test(
        "together the limits are less than half of the memory, whatever was asked for",
        arguments: [128, 512, 4_096])
    func sum(memory: Int) {
        let byteCount = memory * Self.mebibyte
        let sum = Self.sum(of: MemoryKind.allCases, in: byteCount)
        #expect(sum <= byteCount / 2)
        #expect(sum >= byteCount / 4)
    }

    @Test(
        "what stays when all connections have gone has a quarter of the memory with the program",
        arguments: [128, 256, 512, 4_096])
    func quarter(memory: Int) {
        let ends: Set<MemoryKind> = [.connections, .unfinished, .unsent]
        let staying = MemoryKind.allCases.filter { !ends.contains($0) }
        let byteCount = memory * Self.mebibyte
        let sum = Self.sum(of: staying, in: byteCount) + MemoryKind.programByteCount
        #expect(sum <= byteCount / 4 + byteCount / 1_000)
        #expect(sum >= byteCount / 4 - byteCount / 1_000)
    }

    /// The limits of some kinds together, if as much as possible was asked for.
    private static func sum(of kinds: [MemoryKind], in byteCount: Int) -> Int {
        var configuration = ServerConfiguration()
        for kind in MemoryKind.allCases { configuration[keyPath: kind.limit] = 1 << 40 }
        _ = configuration.fit(to: byteCount)
        return kinds.reduce(0) { $0 + configuration[keyPath: $1.limit] }
    }

    @Test("no limit is lowered below 512 KiB, and one that was lower stays", arguments: [0, 1, 4])
    func least(memory: Int) {
        var configuration = ServerConfiguration()
        configuration.unsentByteLimit = 1_000
        _ = configuration.fit(to: memory * Self.mebibyte)
        #expect(configuration.unsentByteLimit == 1_000)
        for kind in MemoryKind.allCases where kind != .unsent {
            #expect(configuration[keyPath: kind.limit] == Self.mebibyte / 2, "\(kind)")
        }
    }

    @Test("texts that are held or queued have no more room than their memory")
    func texts() {
        var configuration = ServerConfiguration()
        _ = configuration.fit(to: 512 * Self.mebibyte)
        #expect(configuration.heldByteLimit == configuration.memory.held)
        #expect(configuration.queueByteLimit == configuration.memory.queue)
    }

    @Test("--memory-limit counts, and not the control group's; without both nothing is lowered")
    func option() {
        var configuration = ServerConfiguration()
        #expect(configuration.fitted(to: nil).memory == MemoryLimits())
        configuration.memoryByteLimit = 1_000 * Self.mebibyte
        let fitted = configuration.fitted(to: 100 * Self.mebibyte)
        #expect(fitted.memory.observers == MemoryKind.observers.part(of: 1_000 * Self.mebibyte))
    }

    @Test("connections are as many as fit into their memory, with what the kernel has of each")
    func connections() {
        var configuration = ServerConfiguration()
        configuration.memory.connections = 1 << 30
        let many = configuration.fittingConnectionCount
        configuration.memory.connections = 1 << 20
        #expect(configuration.fittingConnectionCount == many >> 10)
        #expect((1 << 30) / many > 4_096)
    }
}
