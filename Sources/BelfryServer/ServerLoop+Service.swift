import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// The service paths: health, metrics, the files of the broker, and the echoes.

extension ServerLoop {
    mutating func handleService(
        _ route: Route, content: Span<UInt8>, from id: ConnectionID
    ) throws(Problem) {
        answerContent.removeAll(keepingCapacity: true)
        switch route {
        case .live:
            sendText("ok\n", to: id)
        case .ready:
            try sendReadiness(to: id)
        case .metrics:
            let caller = exchange.caller ?? anonymous
            guard caller.grants.allowSomewhere(.inspect) else {
                throw Problem.lacking("inspect", caller)
            }
            // It is made once a turn, and compressed for each.
            countLook()
            answerContent.append(contentsOf: metrics())
            exchange.reply.acceptsGzip = exchange.parser.head.acceptsGzip
            let type = "text/plain; version=0.0.4; charset=utf-8"
            send(
                Answer(contentType: .other(type), isCompressible: true), to: id, exchange.reply)
        case .asset(let asset):
            sendAsset(asset, to: id)
        case .debugEcho:
            answerContent.append(copying: content)
            send(Answer(contentType: .other("application/octet-stream")), to: id, exchange.reply)
        case .debugWebSocket:
            do throws(Problem) {
                try openDebugWebSocket(id)
            } catch {
                answer(error, fields: exchange.refusalFields, to: id, exchange.reply)
            }
        case .channelPost, .channels, .notifications, .notification, .observers, .observer,
            .mailbox, .clients, .client, .centers, .center, .queue, .queueEntry, .modes, .mode,
            .explain, .leaks, .unmatched, .webSocket, .events, .tickets, .backup:
            preconditionFailure("routes of a center are no service")
        }
    }

    private mutating func sendReadiness(to id: ConnectionID) throws(Problem) {
        let readiness = Readiness(shared, configuration)
        var query = try Query(exchange.parser.head)
        let isVerbose = query.take("verbose") != nil
        if var problem = readiness.problem {
            if isVerbose { problem.members.append(.init("parts", json: readiness.partsJSON)) }
            throw problem
        }
        guard isVerbose else { return sendText("ok\n", to: id) }
        answerContent.append(contentsOf: #"{"ready":true,"parts":"#.utf8)
        answerContent += readiness.partsJSON
        answerContent.append(UInt8(ascii: "}"))
        var answer = Answer.json
        answer.fields = [Self.noStore]
        send(answer, to: id, exchange.reply)
    }

    /// The metrics; all who ask in one turn are told the same, since making the text is much work.
    private mutating func metrics() -> [UInt8] {
        if metricsText.isEmpty {
            accountForAllKept()
            var total = Counters()
            for (loop, published) in shared.counters.enumerated() {
                total.add(loop == number ? counters : published.read())
            }
            metricsText = MetricsText.text(
                of: total, shared: shared, configuration, log: log, version: Server.version)
        }
        return metricsText
    }

    private mutating func sendText(_ text: String, to id: ConnectionID) {
        answerContent.append(contentsOf: text.utf8)
        var answer = Answer(contentType: .other("text/plain; charset=utf-8"))
        answer.fields = [Self.noStore]
        send(answer, to: id, exchange.reply)
    }

    private mutating func sendAsset(_ asset: Asset, to id: ConnectionID) {
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
        sendFile(compressed ?? shared.assets[asset] ?? [], answer, to: id, exchange.reply)
    }
}
