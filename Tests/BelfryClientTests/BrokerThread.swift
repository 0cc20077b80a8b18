import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWebSocket
import Synchronization

@testable import BelfryClient

/// A broker on real sockets that answers out of a script, on a thread of its own.
final class BrokerThread: Sendable {
    /// Returns the answer to the bytes that arrived on a connection; `nil` ends the connection.
    typealias Script = @Sendable (_ heard: [UInt8]) -> [UInt8]?

    private let stop: LoopWake
    private let heardBytes = Mutex<[UInt8]>([])

    init() throws {
        stop = try LoopWake()
    }

    deinit {
        stop.signal()
    }

    /// Everything that was heard, on all connections.
    var heard: String {
        String(decoding: heardBytes.withLock { $0 }, as: UTF8.self)
    }

    /// Listens at a free port, and gives the broker's URL when it does.
    ///
    /// With a context it speaks TLS, and the client trusts these authorities.
    func start(
        _ context: TLSContext? = nil, authorities: [UInt8]? = nil, _ script: @escaping Script
    ) async throws -> BrokerURL {
        let stop = self.stop
        let address = await withCheckedContinuation { continuation in
            do {
                _ = try SystemThread { [weak self] in
                    do {
                        var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
                        loop.reportsIdle = false
                        try loop.attach(stop)
                        let address = try loop.listen(on: .loopback(port: 0))
                        continuation.resume(
                            returning: context == nil
                                ? "http://\(address)" : "https://localhost:\(address.port)")
                        try Self.serve(&loop, context) { bytes in
                            self?.heardBytes.withLock { $0 += bytes }
                            return script(bytes)
                        }
                    } catch {
                        preconditionFailure("the scripted broker has failed: \(error)")
                    }
                }
            } catch {
                preconditionFailure("no thread for the scripted broker: \(error)")
            }
        }
        return try BrokerURL(address, authorities: authorities)
    }

    private static func serve(
        _ loop: inout EventLoop, _ context: TLSContext?, _ script: ([UInt8]) -> [UInt8]?
    ) throws(SystemCallError) {
        var input = [UInt8](repeating: 0, count: 65_536)
        var sessions: [ConnectionID: TLSSession] = [:]
        while true {
            switch try loop.nextEvent(into: &input) {
            case .accepted(let id, _): sessions[id] = context.map { TLSSession($0) }
            case .received(let id, let byteCount):
                var heard = Array(input[..<byteCount])
                var answer: [UInt8] = []
                if let session = sessions[id] {
                    heard = open(heard, session, answer: &answer)
                }
                if !heard.isEmpty {
                    guard let text = script(heard) else {
                        loop.closeAfterFlush(id, lingering: true)
                        continue
                    }
                    seal(text, sessions[id], answer: &answer)
                }
                let start = loop.output.count
                loop.output += answer
                loop.send(start..<loop.output.count, to: id, as: .answer)
            case .endOfInput(let id): loop.close(id)
            case .mail: return
            default: continue
            }
        }
    }

    private static func open(
        _ bytes: [UInt8], _ session: TLSSession, answer: inout [UInt8]
    ) -> [UInt8] {
        var (room, cursor) = ([UInt8](repeating: 0, count: 65_536), 0)
        var heard: [UInt8] = []
        while let event = try? session.nextEvent(
            in: bytes.span, at: &cursor, into: &room, output: &answer)
        {
            if case .received(let count) = event { heard += room[..<count] }
        }
        return heard
    }

    private static func seal(_ text: [UInt8], _ session: TLSSession?, answer: inout [UInt8]) {
        guard let session else { return answer += text }
        do {
            try session.send(text.span, output: &answer)
        } catch {
            preconditionFailure("an open session seals: \(error)")
        }
    }
}

/// A broker that understands just enough: each request gets an answer, each post a delivery.
final class AnsweringBroker: Sendable {
    private struct State {
        var isOpen = false
        var reader = MessageReader(role: .server)
        var hasHeardPost = false
        var calls = ""
    }

    private let state = Mutex(State())
    private let answersPosts: Bool

    /// Makes one, which may leave posts without an answer.
    init(answersPosts: Bool = true) {
        self.answersPosts = answersPosts
    }

    /// Whether a post has come.
    var hasHeardPost: Bool {
        state.withLock { $0.hasHeardPost }
    }

    /// The calls that have come, as they were sent.
    var calls: String {
        state.withLock { $0.calls }
    }

    func answer(_ bytes: [UInt8]) -> [UInt8]? {
        state.withLock { state in
            if !state.isOpen {
                state.isOpen = true
                return opening(String(decoding: bytes, as: UTF8.self))
            }
            var answer: [UInt8] = []
            var cursor = 0
            while let event = try? state.reader.nextEvent(in: bytes.span, at: &cursor) {
                switch event {
                case .text:
                    let isPost = JSONObject(state.reader.message)?.string("method") == "post"
                    if isPost { state.hasHeardPost = true }
                    state.calls += String(decoding: state.reader.message, as: UTF8.self)
                    if answersPosts || !isPost {
                        append(answerTo: state.reader.message, to: &answer)
                    }
                case .close(let code): FrameWriter.appendClose(code, to: &answer)
                case .ping, .pong, .binary: break
                }
            }
            return answer
        }
    }

    private func opening(_ request: String) -> [UInt8] {
        var opening = OpeningRequest()
        opening.upgrade = [Array("websocket".utf8)]
        opening.connection = [Array("upgrade".utf8)]
        opening.version = [Array("13".utf8)]
        let name = "Sec-WebSocket-Key: "
        opening.key = request.split(separator: "\r\n").filter { $0.hasPrefix(name) }.map {
            Array($0.utf8.dropFirst(name.utf8.count))
        }
        let decision = opening.decide(
            subprotocols: [], unknown: .ignored, allowsDeflate: false)
        guard case .accept(let key, _, _) = decision else { return [] }
        var answer = Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n".utf8)
        answer += "Connection: Upgrade\r\nSec-WebSocket-Accept: ".utf8
        answer += key + Array("\r\n\r\n".utf8)
        text(ScriptedBroker.welcome, to: &answer)
        return answer
    }

    private func append(answerTo message: [UInt8], to answer: inout [UInt8]) {
        guard let call = JSONObject(message), let id = call.integer("id") else { return }
        switch call.string("method") {
        case "addObserver":
            result(#"{"id":"o\#(id)","token":"o\#(id).t","since":0}"#, of: id, to: &answer)
        case "removeObserver": result(#"{"removed":1}"#, of: id, to: &answer)
        default:
            text(
                #"{"jsonrpc":"2.0","method":"notify","params":{"id":"n\#(id)","seq":\#(id),"#
                    + #""name":"A","postedAt":"2026-11-21T08:00:00.000Z"}}"#, to: &answer)
            result(#"{"id":"n\#(id)","seq":\#(id),"matched":1,"delivered":1}"#, of: id, to: &answer)
        }
    }

    private func result(_ json: String, of id: Int, to answer: inout [UInt8]) {
        text(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(json)}"#, to: &answer)
    }

    private func text(_ message: String, to answer: inout [UInt8]) {
        FrameWriter.append(.text, payload: Array(message.utf8).span, to: &answer)
    }
}

/// No timeout of these tests is about time: under a sanitizer a busy machine takes minutes.
var patient: ClientOptions {
    var options = ClientOptions()
    options.openingTimeout = .seconds(3_600)
    options.requestTimeout = .seconds(3_600)
    options.silenceLimit = .seconds(3_600)
    return options
}
