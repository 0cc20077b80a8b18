import Testing

@testable import BelfryServer

@Suite("Limits that fit the memory (DESIGN section 6)")
struct MemoryFitTests {
    private static let mebibyte = 1 << 20

    @Test("a limit that is its part of the memory stays, and one above it is lowered")
    func border() {
        var configuration = ServerConfiguration()
        let memory = 100_000 * 1_000
        configuration.memory.observers = 100_000 * 100
        configuration.memory.replay = 100_000 * 32 + 1
        let lowered = configuration.fit(to: memory)
        #expect(configuration.memory.observers == 100_000 * 100)
        #expect(configuration.memory.replay == 100_000 * 32)
        #expect(!lowered.contains { $0.kind == .observers })
        #expect(lowered.contains(.init(kind: .replay, byteLimit: 100_000 * 32)))
    }

    @Test(
        "together the limits are less than six tenths of the memory, whatever was asked for",
        arguments: [64, 128, 512, 4_096])
    func sum(memory: Int) {
        var configuration = ServerConfiguration()
        for kind in MemoryKind.allCases { configuration[keyPath: kind.limit] = 1 << 40 }
        _ = configuration.fit(to: memory * Self.mebibyte)
        let sum = MemoryKind.allCases.reduce(0) { $0 + configuration[keyPath: $1.limit] }
        #expect(sum <= memory * Self.mebibyte * 6 / 10)
        #expect(sum >= memory * Self.mebibyte / 2)
    }

    @Test("no limit is lowered below 1 MiB, and one that was lower stays", arguments: [0, 1, 8])
    func least(memory: Int) {
        var configuration = ServerConfiguration()
        configuration.unsentByteLimit = 1_000
        _ = configuration.fit(to: memory * Self.mebibyte)
        #expect(configuration.unsentByteLimit == 1_000)
        for kind in MemoryKind.allCases where kind != .unsent {
            #expect(configuration[keyPath: kind.limit] == Self.mebibyte, "\(kind)")
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
        #expect(fitted.memory.observers == 1_000 * Self.mebibyte / 1_000 * 100)
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
