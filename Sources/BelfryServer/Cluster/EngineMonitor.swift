import BelfryHTTP
import BelfryLoop
import BelfryNATS
import BelfrySystem

/// Asks the monitoring ports of the engine's servers in turn whether they write before they answer.
///
/// The client protocol of the engine does not say.
final class EngineMonitor {
    private let servers: [EngineServer]
    /// Whether each server writes before it answers; nil until it has answered that.
    private var told: [Bool?]
    /// The number of questions that were answered, or given up.
    private var roundCount = 0
    private var call = EndpointCall()
    private(set) var connection: ConnectionID?
    private var parser = ResponseParser(limits: HTTPLimits())
    private var content: [UInt8] = []
    private var askedAt = MonotonicTime(nanoseconds: 0)
    private var isAsking = false

    /// The time that a server has to answer.
    private static let patience: Duration = .seconds(1)
    /// The pause before the next question, once all servers were asked.
    private static let interval: Duration = .seconds(60)
    private static let answerByteLimit = 64 << 10

    /// Makes a monitor that has asked no server yet.
    init(_ servers: [EngineServer]) {
        self.servers = servers
        told = Array(repeating: nil, count: servers.count)
    }

    /// Whether each server was asked at least once.
    var hasAskedAll: Bool { roundCount >= servers.count }

    /// Whether all servers write before they answer; nil where that is unknown.
    var syncsAlways: Bool? {
        if told.contains(false) { return false }
        return told.contains(nil) || servers.isEmpty ? nil : true
    }

    /// A server known to answer before it has written, if there is one.
    var lazyServer: EngineServer? { told.firstIndex(of: false).map { servers[$0] } }

    private var place: Int { roundCount % servers.count }

    /// Asks the next server, or gives one up, when it is time.
    func tick(_ outbox: inout Outbox) {
        let now = outbox.loop.now
        guard isAsking else {
            if !servers.isEmpty, !hasAskedAll || now - askedAt >= Self.interval { ask(&outbox) }
            return
        }
        if now - askedAt >= Self.patience { return giveUp("it does not answer", &outbox) }
        guard call.isLookingUp else { return }
        do throws(EndpointCall.Failure) {
            connection = try call.goOn(&outbox.loop)
        } catch {
            giveUp("\(error)", &outbox)
        }
    }

    private func ask(_ outbox: inout Outbox) {
        (isAsking, askedAt) = (true, outbox.loop.now)
        parser = ResponseParser(limits: HTTPLimits())
        parser.bodyByteLimit = Self.answerByteLimit
        content = []
        call = EndpointCall()
        do throws(EndpointCall.Failure) {
            connection = try call.open(servers[place].endpoint, &outbox.loop)
        } catch {
            giveUp("\(error)", &outbox)
        }
    }

    /// Takes an event of the connection.
    ///
    /// - Returns: whether the event is of the connection.
    func take(_ event: LoopEvent, input: Span<UInt8>, _ outbox: inout Outbox) -> Bool {
        guard let connection, event.connection == connection else { return false }
        switch event {
        case .connected:
            let start = outbox.loop.output.count
            RequestWriter.append(
                method: .get, target: MonitoredStorage.target, host: "\(servers[place])",
                fields: [HTTPField("Connection", "close")], content: [UInt8]().span,
                to: &outbox.loop.output)
            outbox.loop.send(start..<outbox.loop.output.count, to: connection, as: .answer)
        case .received(_, let byteCount):
            read(input.extracting(0..<byteCount), &outbox)
        case .endOfInput: end(&outbox)
        case .closed(_, let reason):
            self.connection = nil
            giveUp("\(reason)", &outbox)
        default: break
        }
        return true
    }

    private func read(_ bytes: Span<UInt8>, _ outbox: inout Outbox) {
        var cursor = 0
        do throws(HTTPError) {
            while let event = try parser.nextEvent(in: bytes, at: &cursor) {
                switch event {
                case .head: break
                case .body(let range): content += range.map { bytes[$0] }
                case .end: return conclude(&outbox)
                }
            }
        } catch {
            giveUp("\(error)", &outbox)
        }
    }

    private func end(_ outbox: inout Outbox) {
        do throws(HTTPError) {
            if try parser.finish() == .end { return conclude(&outbox) }
            giveUp("it has ended the connection", &outbox)
        } catch {
            giveUp("\(error)", &outbox)
        }
    }

    /// Evaluates a whole answer.
    private func conclude(_ outbox: inout Outbox) {
        guard parser.head.status == 200 else {
            return giveUp("it answers with the status \(parser.head.status)", &outbox)
        }
        do throws(NATSError) {
            let syncsAlways = try MonitoredStorage(json: content).syncsAlways
            if !syncsAlways, told[place] != false { warn(&outbox) }
            told[place] = syncsAlways
        } catch {
            return giveUp("\(error)", &outbox)
        }
        close(&outbox)
    }

    private func warn(_ outbox: inout Outbox) {
        outbox.log.write(
            outbox.configuration.durability == .power ? .error : .warning,
            "a server of the engine answers before it has written to its disk",
            ("monitor", "\(servers[place])"))
    }

    /// Records that a server has not answered: its earlier answer no longer counts.
    private func giveUp(_ reason: String, _ outbox: inout Outbox) {
        told[place] = nil
        outbox.log.write(
            .warning, "whether a server of the engine writes before it answers is not known",
            ("monitor", "\(servers[place])"), ("reason", reason))
        close(&outbox)
    }

    private func close(_ outbox: inout Outbox) {
        if let connection { outbox.loop.close(connection) }
        connection = nil
        isAsking = false
        roundCount += 1
    }
}
