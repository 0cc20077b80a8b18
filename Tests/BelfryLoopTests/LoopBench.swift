import BelfryLoop
import BelfrySystem

/// A loop on an embedded kernel with one listener, and what it has handed out.
struct LoopBench: ~Copyable {
    let kernel: EmbeddedKernel
    var loop: EventLoop
    var input = [UInt8](repeating: 0, count: 1024)

    init(
        _ configuration: LoopConfiguration = LoopConfiguration(), reportsIdle: Bool = false
    ) throws {
        let kernel = EmbeddedKernel()
        var loop = try EventLoop(configuration, kernel: .embedded(kernel))
        loop.reportsIdle = reportsIdle
        _ = try loop.listen(on: .loopback(port: 0))
        self.kernel = kernel
        self.loop = loop
    }

    mutating func next() throws -> LoopEvent {
        try loop.nextEvent(into: &input)
    }

    /// Runs until nothing is left to do; gives all events but `.turnEnds` and the last `.waiting`.
    mutating func settle() throws -> [LoopEvent] {
        var events: [LoopEvent] = []
        while true {
            let event = try next()
            if event == .waiting { return events }
            if event != .turnEnds { events.append(event) }
        }
    }

    /// Connects a peer and lets the loop accept it.
    mutating func connect() throws -> (id: ConnectionID, peer: EmbeddedPeer) {
        let peer = kernel.connect()
        for event in try settle() {
            if case .accepted(let id, 0) = event { return (id, peer) }
        }
        throw BenchError.notAccepted
    }

    /// Appends bytes to the output and sends them.
    mutating func send(_ bytes: [UInt8], to id: ConnectionID, as kind: OutputKind = .answer) {
        let start = loop.output.count
        loop.output += bytes
        loop.send(start..<loop.output.count, to: id, as: kind)
    }
}

enum BenchError: Error {
    case notAccepted
}
