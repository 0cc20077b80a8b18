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
        _ route: ServiceRoute, content: Span<UInt8>, from id: ConnectionID,
        _ context: inout LoopContext
    ) throws(Problem) -> CallerStep? {
        switch route {
        case .live:
            sendText("ok\n", to: id, &context)
        case .ready, .health:
            try sendReadiness(to: id, &context)
        case .metrics:
            try exchange.checkInspect(context.anonymous)
            return .metrics
        case .overview:
            try exchange.checkInspect(context.anonymous)
            let number = try exchange.historyPosition(requestReader)
            try gate.charge(1, &exchange, &context)
            return .overview(since: number)
        case .cluster:
            try exchange.checkInspect(context.anonymous)
            guard context.configuration.cluster != nil else { throw Problem.noCluster }
            try gate.charge(1, &exchange, &context)
            return .cluster
        case .upgradeCluster:
            try checkClusterAdmin(&context)
            exchange.request = .changeCluster(.upgrade)
            return .request
        case .configureCluster:
            try checkClusterAdmin(&context)
            exchange.request = .changeCluster(.applyConfiguration)
            return .request
        case .recoverCluster:
            try checkClusterAdmin(&context)
            return .recovery
        case .centers:
            exchange.request = try exchange.centerListing(requestReader)
            try gate.charge(1, &exchange, &context)
            return .request
        case .me:
            try tellCaller(to: id, &context)
        case .tickets:
            return try makeTicket(for: id, &context)
        case .backup:
            try beginBackup(for: id, &context)
        case .fixedLibrary:
            try sendFixedLibrary(to: id, &context)
        case .tryPage:
            try sendTryPage(to: id, &context)
        case .consoleFile:
            send(try FileAnswer(.console, named: exchange.path?.argument), to: id, &context)
        case .deskFile:
            send(try FileAnswer(.desk, named: exchange.path?.argument), to: id, &context)
        case .debugEcho:
            var answer = context.outbox.answers.make(.other("application/octet-stream"))
            answer.content.append(content)
            connections.send(answer, to: id, exchange.reply, &context)
        case .debugWebSocket:
            try openDebugWebSocket(id, &context)
        }
        return nil
    }

    /// Refuses a caller that may not change the whole cluster.
    private mutating func checkClusterAdmin(_ context: inout LoopContext) throws(Problem) {
        let caller = exchange.caller(context.anonymous)
        guard caller.grants.allowEverywhere(.admin) else { throw Problem.lacking("admin", caller) }
        let query = try Query(exchange.parser.head)
        try query.finish()
        guard context.configuration.cluster != nil else { throw Problem.noCluster }
        try gate.charge(1, &exchange, &context)
    }

    /// Answers with the metrics; the text is made once a turn, and compressed for each request.
    mutating func sendMetrics(_ text: [UInt8], to id: ConnectionID, _ context: inout LoopContext) {
        context.work.countLook()
        var answer = context.outbox.answers.make(.other("text/plain; version=0.0.4; charset=utf-8"))
        answer.content.append(contentsOf: text)
        answer.isCompressible = true
        connections.send(answer, to: id, exchange.reply, &context)
    }

    /// Answers with the state of the broker.
    mutating func send(
        _ overview: Overview, since number: UInt64, to id: ConnectionID,
        _ context: inout LoopContext
    ) {
        context.work.countLook()
        var answer = context.outbox.answers.make()
        overview.append(since: number, to: &answer.content)
        answer.isCompressible = true
        connections.send(answer, to: id, exchange.reply, &context)
    }

    /// Answers with the state of the broker in its cluster.
    mutating func send(_ status: ClusterStatus, to id: ConnectionID, _ context: inout LoopContext) {
        var answer = context.outbox.answers.make()
        status.append(to: &answer.content)
        answer.isCompressible = true
        connections.send(answer, to: id, exchange.reply, &context)
    }

    private mutating func sendReadiness(to id: ConnectionID, _ context: inout LoopContext)
        throws(Problem)
    {
        let readiness = Readiness(shared, context.configuration)
        var query = try Query(exchange.parser.head)
        let isVerbose = query.take("verbose") != nil
        if var problem = readiness.problem {
            if isVerbose { problem.members.append(.init("parts", json: readiness.partsJSON)) }
            throw problem
        }
        guard isVerbose else { return sendText("ok\n", to: id, &context) }
        var answer = context.outbox.answers.make()
        answer.content.append(contentsOf: #"{"ready":true,"parts":"#.utf8)
        answer.content += readiness.partsJSON
        answer.content.append(UInt8(ascii: "}"))
        answer.fields = [.noStore]
        connections.send(answer, to: id, exchange.reply, &context)
    }

    private mutating func sendText(
        _ text: String, to id: ConnectionID, _ context: inout LoopContext
    ) {
        var answer = context.outbox.answers.make(.other("text/plain; charset=utf-8"))
        answer.content.append(contentsOf: text.utf8)
        answer.fields = [.noStore]
        connections.send(answer, to: id, exchange.reply, &context)
    }

    /// Answers with the caller and its grants (GET /v1/me).
    private mutating func tellCaller(
        to id: ConnectionID, _ context: inout LoopContext
    ) throws(Problem) {
        try Query(exchange.parser.head).finish()
        try gate.charge(1, &exchange, &context)
        var answer = context.outbox.answers.make()
        Shape.append(caller: CallerRow(exchange.caller(context.anonymous)), to: &answer.content)
        answer.fields = [.noStore]
        connections.send(answer, to: id, exchange.reply, &context)
    }

    /// Issues a ticket for the credentials of a request (POST /v1/tickets).
    private mutating func makeTicket(
        for id: ConnectionID, _ context: inout LoopContext
    ) throws(Problem) -> CallerStep? {
        guard let caller = exchange.caller else {
            throw Problem(
                .credentialsMissing,
                "A ticket replaces credentials, so the request must have some.")
        }
        let query = try Query(exchange.parser.head)
        try query.finish()
        try gate.charge(1, &exchange, &context)
        if context.configuration.cluster != nil {
            let token = exchange.parser.head.bearerTokens()?.first ?? []
            exchange.request = .makeTicket(shown: Keyring.shown(token, by: caller))
            return .request
        }
        let ticket = try context.keptTicket(for: caller)
        var answer = context.outbox.answers.make()
        context.append(ticket: ticket, to: &answer)
        connections.send(answer, to: id, exchange.reply, &context)
        return nil
    }
}

extension Exchange {
    /// The number of the caller's last point of the history; 0 without one.
    fileprivate func historyPosition(_ reader: RequestReader) throws(Problem) -> UInt64 {
        var query = try Query(parser.head)
        let text = query.take("since")
        try query.finish()
        guard let text else { return 0 }
        return try reader.sequence(text, parameter: "since")
    }

    /// Refuses a caller that may inspect no center.
    fileprivate func checkInspect(_ anonymous: AnonymousCallers) throws(Problem) {
        let caller = caller(anonymous)
        guard caller.grants.allowSomewhere(.inspect) else {
            throw Problem.lacking("inspect", caller)
        }
    }
}
