import BelfryAccess
import BelfryCenter
import BelfryJSON
import BelfryWire

extension ArchivesRequest {
    /// Performs the request.
    ///
    /// - Returns: whether the request is answered.
    func perform(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) -> Bool {
        switch self {
        case .past(let request, let progress):
            PastLook(request: request, progress: progress).perform(&host, submission, &context)
        case .forget(let query, let start, let count):
            host.perform(
                Forget(query: query, start: start, earlierCount: count), submission, &context)
        case .put(let name, let request):
            host.perform(PutArchive(name: name, request: request), submission, &context)
        case .remove(let name): host.perform(RemoveArchive(name: name), submission, &context)
        }
    }
}

/// The making of an archive, or a change of its terms (PUT /v1/archives/{name}).
struct PutArchive: Operation {
    static let answersFirst = true
    let name: ArchiveName
    let request: ArchiveRequest

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        try submission.check(.admin, "admin", name: name.reach, object: nil)
        try Problem.checkArchives(host.centers)
        var terms = request.terms
        terms.isStored = request.isStored ?? host.shared.hasStore
        let limit = context.configuration.centerLimits.archiveByteLimit
        if !request.hasByteLimit { terms.lower(to: min(limit, host.kept.limits[.archives] / 4)) }
        if terms.byteLimit > limit {
            throw Problem.invalid([
                .init(
                    .pointer(JSONPointer.root.appending(key: "bytes")),
                    "must be at most \(limit), the limit (--archive-limit)")
            ])
        }
        if terms.isStored, !host.shared.hasStore {
            throw Problem.invalid([
                .init(
                    .pointer(JSONPointer.root.appending(key: "stored")),
                    "must be false: the broker has no store (start it with --data)")
            ])
        }
        if terms.isStored { try host.shared.checkStore() }
        // What is refused makes no center.
        try terms.checkRoom(
            for: name, at: host.centers.position(of: submission.center), host, &context)
        guard let position = try host.makeCenter(for: submission, &context) else { return }
        host.submitCommand(.putArchive(name, terms), to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        guard case .archive(let row) = host.effects.outcome else {
            preconditionFailure("an archive that is not refused is there")
        }
        if row.isNew { answer.status = 201 }
        row.append(hasFigures: false, to: &answer.content)
        return .answered
    }
}

/// The removal of an archive with all that it keeps (DELETE /v1/archives/{name}).
struct RemoveArchive: Operation {
    static let answersFirst = true
    let name: ArchiveName

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        try submission.check(.admin, "admin", name: name.reach, object: nil)
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem.noCenter
        }
        host.submitCommand(.removeArchive(name), to: position, &context)
    }
}

/// The removal of notifications, a share in each turn (DELETE /v1/notifications).
struct Forget: Operation {
    static let answersFirst = true
    let query: PastQuery
    /// The number above which it goes on, and how many were removed before.
    let start: UInt64
    let earlierCount: Int

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        for name in query.reach.names {  // Bound: terms
            try submission.check(.admin, "admin", name: name, object: query.reach.object)
        }
        try Problem.checkArchives(host.centers)
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem.noCenter
        }
        host.submitCommand(.forget(query, above: start), to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        guard case .forgot(let count, let next) = host.effects.outcome else {
            preconditionFailure("a removal says how many it removed")
        }
        guard let next else {
            Shape.append(removedCount: earlierCount + count, to: &answer.content)
            return .answered
        }
        var rest = submission
        rest.request = .archives(.forget(query, above: next, count: earlierCount + count))
        host.postponed.add(.request(rest), &context)
        return .later
    }
}

extension ArchiveTerms {
    /// Lowers the default of bytes for a broker with little memory.
    fileprivate mutating func lower(to byteCount: Int) {
        byteLimit = max(4_096, min(byteLimit, byteCount))
    }

    /// Checks that there is room for an archive, in its center and in the memory of the broker.
    ///
    /// A kept notification may take twice the bytes that it counts.
    ///
    /// - Parameter position: The center; nil for one that is not there yet.
    fileprivate func checkRoom(
        for name: ArchiveName, at position: Int?, _ host: borrowing CenterHost,
        _ context: inout LoopContext
    ) throws(Problem) {
        var known = 0
        do throws(Refusal) {
            if let position {
                let archives = host.centers[position].archives
                try archives.check(name, self, context.configuration.centerLimits)
                known = archives.row(named: name)?.terms.byteLimit ?? 0
            } else {
                try context.configuration.centerLimits.checkFirst(name, self)
            }
        } catch {
            throw Problem(error)
        }
        // Each loop has its part of the memory.
        var wanted = byteLimit - known
        for place in 0..<host.centers.count {  // Bound: centers
            wanted += host.centers[place].archives.reservedByteCount
        }
        let room = host.kept.limits[.archives] / context.configuration.loopCount
        guard byteLimit > known, 2 * wanted > room else { return }
        context.meet(.archives)
        throw Problem.full(.archives, context.configuration)
    }
}

extension Problem {
    /// Checks that centers may have archives: brokers that share a log have none yet.
    static func checkArchives(_ centers: borrowing CenterTable) throws(Problem) {
        guard centers.log != nil else { return }
        throw Problem(
            .notImplemented,
            "Brokers that share a log keep no archives, and begin at the present or a number.")
    }
}
