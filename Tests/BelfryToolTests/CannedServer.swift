import BelfryLoop
import BelfrySystem
import Synchronization

/// A server that answers whatever comes with the same bytes, and hangs where it has none.
final class CannedServer: Sendable {
    /// The bytes of an answer.
    static func answer(_ status: Int, _ type: String, _ content: String) -> [UInt8] {
        let length = status == 204 ? "" : "Content-Length: \(content.utf8.count)\r\n"
        return Array(
            "HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\n\(length)\r\n\(content)".utf8)
    }

    private let stop: LoopWake
    private let heardCount = Atomic(0)

    /// Whether something has come.
    var hasHeard: Bool { heardCount.load(ordering: .sequentiallyConsistent) > 0 }

    init() throws {
        stop = try LoopWake()
    }

    deinit {
        stop.signal()
    }

    /// Listens at a free port of loopback, and gives its URL.
    func start(_ answer: [UInt8]?) async throws -> String {
        let stop = self.stop
        let listening: Result<SocketAddress, SystemCallError> =
            await withCheckedContinuation { continuation in
                do throws(SystemCallError) {
                    _ = try SystemThread { [weak self] in
                        do throws(SystemCallError) {
                            var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
                            loop.reportsIdle = false
                            try loop.attach(stop)
                            let address = try loop.listen(on: .loopback(port: 0))
                            continuation.resume(returning: .success(address))
                            Self.serve(&loop, answer) {
                                self?.heardCount.add(1, ordering: .sequentiallyConsistent)
                            }
                        } catch {
                            continuation.resume(returning: .failure(error))
                        }
                    }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        return "http://\(try listening.get())"
    }

    private static func serve(
        _ loop: inout EventLoop, _ answer: [UInt8]?, hear: () -> Void
    ) {
        var input = [UInt8](repeating: 0, count: 65_536)
        while let event = try? loop.nextEvent(into: &input) {
            switch event {
            case .received(let id, _):
                hear()
                guard let answer else { continue }
                let start = loop.output.count
                loop.output += answer
                loop.send(start..<loop.output.count, to: id, as: .answer)
                loop.closeAfterFlush(id, lingering: true)
            case .endOfInput(let id): loop.close(id)
            case .mail: return
            default: continue
            }
        }
    }
}
