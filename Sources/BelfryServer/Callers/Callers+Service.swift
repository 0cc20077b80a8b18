import BelfryAccess
import BelfryBytes
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// The broker as a whole: health, metrics, tickets, and the echoes.

extension Callers {
    /// Performs a request to the broker as a whole.
    mutating func handle(
        _ route: ServiceRoute, content: Span<UInt8>, from id: ConnectionID, _ outbox: inout Outbox
    ) throws(Problem) -> CallerStep? {
        outbox.content.removeAll(keepingCapacity: true)
        switch route {
        case .live:
            sendText("ok\n", to: id, &outbox)
        case .ready, .health:
            try sendReadiness(to: id, &outbox)
        case .metrics:
            try checkInspect(outbox)
            return .metrics
        case .overview:
            try checkInspect(outbox)
            let number = try historyPosition()
            try gate.charge(1, &exchange, &outbox)
            return .overview(since: number)
        case .cluster:
            try checkInspect(outbox)
            guard outbox.configuration.cluster != nil else { throw Problem.noCluster }
            try gate.charge(1, &exchange, &outbox)
            return .cluster
        case .upgradeCluster:
            try checkClusterAdmin(&outbox)
            exchange.request = .changeCluster(.upgrade)
            return .request
        case .configureCluster:
            try checkClusterAdmin(&outbox)
            exchange.request = .changeCluster(.applyConfiguration)
            return .request
        case .recoverCluster:
            try checkClusterAdmin(&outbox)
            return .recovery
        case .centers:
            exchange.request = try exchange.centerListing(requestReader)
            try gate.charge(1, &exchange, &outbox)
            return .request
        case .me:
            try tellCaller(to: id, &outbox)
        case .tickets:
            return try makeTicket(for: id, &outbox)
        case .backup:
            try beginBackup(for: id, &outbox)
        case .fixedLibrary:
            try sendFixedLibrary(to: id, &outbox)
        case .tryPage:
            try sendTryPage(to: id, &outbox)
        case .consoleFile:
            try sendConsoleFile(to: id, &outbox)
        case .debugEcho:
            outbox.content.append(content)
            connections.send(
                Answer(contentType: .other("application/octet-stream")), to: id, exchange.reply,
                &outbox)
        case .debugWebSocket:
            try openDebugWebSocket(id, &outbox)
        }
        return nil
    }

    /// Refuses a caller that may not change the whole cluster.
    private mutating func checkClusterAdmin(_ outbox: inout Outbox) throws(Problem) {
        let caller = exchange.caller(outbox.anonymous)
        guard caller.grants.allowEverywhere(.admin) else { throw Problem.lacking("admin", caller) }
        let query = try Query(exchange.parser.head)
        try query.finish()
        guard outbox.configuration.cluster != nil else { throw Problem.noCluster }
        try gate.charge(1, &exchange, &outbox)
    }

    /// Answers with the metrics; the text is made once a turn, and compressed for each request.
    mutating func sendMetrics(_ text: [UInt8], to id: ConnectionID, _ outbox: inout Outbox) {
        outbox.work.countLook()
        outbox.content.removeAll(keepingCapacity: true)
        outbox.content.append(contentsOf: text)
        let type = "text/plain; version=0.0.4; charset=utf-8"
        connections.send(
            Answer(contentType: .other(type), isCompressible: true), to: id, exchange.reply,
            &outbox)
    }

    /// Answers with the state of the broker.
    mutating func send(
        _ overview: Overview, since number: UInt64, to id: ConnectionID, _ outbox: inout Outbox
    ) {
        outbox.work.countLook()
        outbox.content.removeAll(keepingCapacity: true)
        overview.append(since: number, to: &outbox.content)
        connections.send(.listing, to: id, exchange.reply, &outbox)
    }

    /// Answers with the state of the broker in its cluster.
    mutating func send(_ status: ClusterStatus, to id: ConnectionID, _ outbox: inout Outbox) {
        outbox.content.removeAll(keepingCapacity: true)
        status.append(to: &outbox.content)
        connections.send(.listing, to: id, exchange.reply, &outbox)
    }

    /// The number of the caller's last point of the history; 0 without one.
    private func historyPosition() throws(Problem) -> UInt64 {
        var query = try Query(exchange.parser.head)
        let text = query.take("since")
        try query.finish()
        guard let text else { return 0 }
        return try requestReader.sequence(text, parameter: "since")
    }

    /// Refuses a caller that may inspect no center.
    private func checkInspect(_ outbox: borrowing Outbox) throws(Problem) {
        let caller = exchange.caller(outbox.anonymous)
        guard caller.grants.allowSomewhere(.inspect) else {
            throw Problem.lacking("inspect", caller)
        }
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

    /// Answers with the caller and its grants (GET /v1/me).
    private mutating func tellCaller(
        to id: ConnectionID, _ outbox: inout Outbox
    ) throws(Problem) {
        try Query(exchange.parser.head).finish()
        try gate.charge(1, &exchange, &outbox)
        outbox.content.removeAll(keepingCapacity: true)
        Shape.append(caller: CallerRow(exchange.caller(outbox.anonymous)), to: &outbox.content)
        var answer = Answer.json
        answer.fields = [.noStore]
        connections.send(answer, to: id, exchange.reply, &outbox)
    }

    /// Issues a ticket for the credentials of a request (POST /v1/tickets).
    private mutating func makeTicket(
        for id: ConnectionID, _ outbox: inout Outbox
    ) throws(Problem) -> CallerStep? {
        guard let caller = exchange.caller else {
            throw Problem(
                .credentialsMissing,
                "A ticket replaces credentials, so the request must have some.")
        }
        let query = try Query(exchange.parser.head)
        try query.finish()
        try gate.charge(1, &exchange, &outbox)
        if outbox.configuration.cluster != nil {
            let token = exchange.parser.head.bearerTokens()?.first ?? []
            exchange.request = .makeTicket(shown: Keyring.shown(token, by: caller))
            return .request
        }
        let ticket = try outbox.keptTicket(for: caller)
        connections.send(outbox.answer(ticket: ticket), to: id, exchange.reply, &outbox)
        return nil
    }
}
