import BelfryBytes
import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire

// The service paths: health, metrics, the files of the broker, and the echoes.

extension Callers {
    mutating func handleService(
        _ route: Route, content: Span<UInt8>, from id: ConnectionID, _ outbox: inout Outbox
    ) throws(Problem) -> CallerStep? {
        outbox.content.removeAll(keepingCapacity: true)
        switch route {
        case .live:
            sendText("ok\n", to: id, &outbox)
        case .ready:
            try sendReadiness(to: id, &outbox)
        case .metrics:
            let caller = exchange.caller ?? outbox.anonymous
            guard caller.grants.allowSomewhere(.inspect) else {
                throw Problem.lacking("inspect", caller)
            }
            return .metrics
        case .asset(let asset):
            sendAsset(asset, to: id, &outbox)
        case .debugEcho:
            outbox.content.append(content)
            connections.send(
                Answer(contentType: .other("application/octet-stream")), to: id, exchange.reply,
                &outbox)
        case .debugWebSocket:
            do throws(Problem) {
                try openDebugWebSocket(id, &outbox)
            } catch {
                connections.answer(
                    error, fields: exchange.refusalFields, to: id, exchange.reply, &outbox)
            }
        case .channelPost, .channels, .notifications, .notification, .observers, .observer,
            .mailbox, .clients, .client, .centers, .center, .queue, .queueEntry, .modes, .mode,
            .explain, .leaks, .unmatched, .webSocket, .events, .tickets, .backup:
            preconditionFailure("routes of a center are no service")
        }
        return nil
    }

    /// Answers with the metrics; the text is made once a turn, and compressed for each.
    mutating func sendMetrics(_ text: [UInt8], to id: ConnectionID, _ outbox: inout Outbox) {
        outbox.work.countLook()
        outbox.content.removeAll(keepingCapacity: true)
        outbox.content.append(contentsOf: text)
        exchange.reply.acceptsGzip = exchange.parser.head.acceptsGzip
        let type = "text/plain; version=0.0.4; charset=utf-8"
        connections.send(
            Answer(contentType: .other(type), isCompressible: true), to: id, exchange.reply,
            &outbox)
    }

    private mutating func sendReadiness(to id: ConnectionID, _ outbox: inout Outbox) throws(Problem)
    {
        let readiness = Readiness(shared, outbox.configuration)
        var query = try Query(exchange.parser.head)
        let isVerbose = query.take("verbose") != nil
        if var problem = readiness.problem {
            if isVerbose { problem.members.append(.init("parts", json: readiness.partsJSON)) }
            throw problem
        }
        guard isVerbose else { return sendText("ok\n", to: id, &outbox) }
        outbox.content.append(contentsOf: #"{"ready":true,"parts":"#.utf8)
        outbox.content += readiness.partsJSON
        outbox.content.append(UInt8(ascii: "}"))
        var answer = Answer.json
        answer.fields = [.noStore]
        connections.send(answer, to: id, exchange.reply, &outbox)
    }

    private mutating func sendText(_ text: String, to id: ConnectionID, _ outbox: inout Outbox) {
        outbox.content.append(contentsOf: text.utf8)
        var answer = Answer(contentType: .other("text/plain; charset=utf-8"))
        answer.fields = [.noStore]
        connections.send(answer, to: id, exchange.reply, &outbox)
    }

    private mutating func sendAsset(_ asset: Asset, to id: ConnectionID, _ outbox: inout Outbox) {
        // Scanners look at the first page alone, and take any compression over TLS for BREACH.
        let isScanned = asset == .console && (exchange.origin?.isSecure ?? exchange.isSecure)
        let takesGzip = exchange.parser.head.acceptsGzip && !isScanned
        let compressed = takesGzip ? shared.compressedAssets[asset] : nil
        var answer = Answer(contentType: .other(asset.contentType))
        answer.fields = [
            HTTPField("Cache-Control", "no-cache"), HTTPField("X-Content-Type-Options", "nosniff"),
            HTTPField("Vary", "Accept-Encoding"),
        ]
        if compressed != nil { answer.fields.append(HTTPField("Content-Encoding", "gzip")) }
        if asset == .console {
            answer.fields += [
                HTTPField("Content-Security-Policy", Asset.contentSecurityPolicy),
                HTTPField("Referrer-Policy", "no-referrer"),
            ]
        }
        if asset == .library {
            answer.fields.append(HTTPField("Cross-Origin-Resource-Policy", "cross-origin"))
        }
        connections.sendFile(
            compressed ?? shared.assets[asset] ?? [], answer, to: id, exchange.reply, &outbox)
    }
}
