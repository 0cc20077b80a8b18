import BelfrySystem
import Testing

@testable import belfry

/// A reader of the log that reads when it is told to.
private final class Reader: Sendable {
    private struct State: Sendable {
        var isOpen: Bool
        var isBroken = false
        /// Whether the writer waits for the reader.
        var isReached = false
        var lines: [String] = []
    }

    private let state: Monitor<State>

    init(isOpen: Bool) {
        state = Monitor(State(isOpen: isOpen))
    }

    /// A queue of so many bytes, whose lines come here.
    func queue(byteLimit: Int) throws -> LogQueue {
        try LogQueue(byteLimit: byteLimit) {
            Array("lost \($0)\n".utf8)
        } write: {
            (bytes) throws(SystemCallError) in
            let text = String(decoding: Array(copying: bytes), as: UTF8.self)
            let isBroken = self.take(text)
            if isBroken { throw SystemCallError(call: "write", errno: 28) }
        }
    }

    private func take(_ text: String) -> Bool {
        state.change { $0.isReached = true }
        return state.take { state in
            guard state.isOpen else { return nil }
            state.isReached = false
            if !state.isBroken { state.lines += text.split(separator: "\n").map(String.init) }
            return state.isBroken
        } ?? true
    }

    func open() { state.change { $0.isOpen = true } }

    func close() { state.change { $0.isOpen = false } }

    func `break`(_ isBroken: Bool) { state.change { $0.isBroken = isBroken } }

    /// Waits until the writer is at the closed door.
    func awaitWriter() { _ = state.take { $0.isReached ? true : nil } }

    var lines: [String] { state.change { $0.lines } }
}

extension Array where Element == UInt8 {
    fileprivate init(copying span: Span<UInt8>) {
        self = span.indices.map { span[$0] }
    }
}

@Suite("LogQueue")
struct LogQueueTests {
    private func line(_ text: String) -> [UInt8] { Array((text + "\n").utf8) }

    @Test("lines are written in their order, and the last before the end is not lost")
    func order() throws {
        let reader = Reader(isOpen: true)
        let queue = try reader.queue(byteLimit: 1 << 20)
        for number in 0..<1_000 { queue.add(line("\(number)")) }
        #expect(queue.close(within: .seconds(60)))
        #expect(reader.lines == (0..<1_000).map(String.init))
        #expect(queue.lostCount == 0)
    }

    @Test("lines past the limit are lost, counted, and told where they would stand")
    func loss() throws {
        let reader = Reader(isOpen: false)
        // Room for four lines of two bytes: those that are being written count too.
        let queue = try reader.queue(byteLimit: 8)
        queue.add(line("a"))
        reader.awaitWriter()
        for text in ["b", "c", "d", "e", "f"] { queue.add(line(text)) }
        #expect(queue.lostCount == 2)
        reader.open()
        #expect(queue.close(within: .seconds(60)))
        #expect(reader.lines == ["a", "b", "c", "d", "lost 2"])
        #expect(queue.lostCount == 2)
    }

    @Test("once a line is lost the next ones are too, until the loss is told")
    func noLineOvertakes() throws {
        let reader = Reader(isOpen: false)
        let queue = try reader.queue(byteLimit: 8)
        queue.add(line("a"))
        reader.awaitWriter()
        queue.add(line("too long"))
        queue.add(line("b"))
        #expect(queue.lostCount == 2)
        reader.open()
        #expect(queue.close(within: .seconds(60)))
        #expect(reader.lines == ["a", "lost 2"])
    }

    @Test("a reader that does not read does not keep the process from ending")
    func stuckReader() throws {
        let reader = Reader(isOpen: false)
        let queue = try reader.queue(byteLimit: 8)
        queue.add(line("a"))
        reader.awaitWriter()
        #expect(!queue.close(within: .zero))
        reader.open()
    }

    @Test("lines that cannot be written are lost and counted, and told when writing works again")
    func brokenReader() throws {
        let reader = Reader(isOpen: true)
        reader.break(true)
        let queue = try reader.queue(byteLimit: 1 << 10)
        queue.add(line("a"))
        while queue.lostCount < 1 {}
        reader.break(false)
        queue.add(line("b"))
        #expect(queue.close(within: .seconds(60)))
        #expect(reader.lines == ["lost 1", "b"])
    }
}
