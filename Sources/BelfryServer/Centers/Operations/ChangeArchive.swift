import BelfryAccess
import BelfryCenter
import BelfryJSON
import BelfryWire
import Synchronization

/// The making of an archive, or a change of its terms (PUT /v1/archives/{name}).
struct PutArchive: Operation {
    static let answersFirst = true
    let name: ArchiveName
    let request: ArchiveRequest
    /// The bytes that the archives of the center may keep before.
    private var earlierByteLimit = 0

    init(name: ArchiveName, request: ArchiveRequest) {
        self.name = name
        self.request = request
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        try submission.check(.admin, "admin", name: name.reach, object: nil)
        try host.centers.checkArchives()
        var terms = request.terms
        terms.isStored = request.isStored ?? host.shared.hasStore
        let limit = context.configuration.centerLimits.archiveByteLimit
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
        guard let position = try host.makeCenter(for: submission, &context) else { return }
        let archives = host.centers[position].archives
        try terms.checkRoom(for: name, in: archives, host.kept, &context)
        earlierByteLimit = archives.reservedByteCount
        host.submitCommand(.putArchive(name, terms), to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        guard case .archive(let row) = host.effects.outcome else {
            preconditionFailure("an archive that is not refused is there")
        }
        host.shared.totals.noteArchives(host.centers[host.applied.position], earlierByteLimit)
        if row.isNew { answer.status = 201 }
        Shape.append(archive: row, hasFigures: false, to: &answer.content)
        return .answered
    }
}

/// The removal of an archive with all that it keeps (DELETE /v1/archives/{name}).
struct RemoveArchive: Operation {
    static let answersFirst = true
    let name: ArchiveName
    /// The bytes that the archives of the center may keep before.
    private var earlierByteLimit = 0

    init(name: ArchiveName) { self.name = name }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        try submission.check(.admin, "admin", name: name.reach, object: nil)
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem.noCenter
        }
        earlierByteLimit = host.centers[position].archives.reservedByteCount
        host.submitCommand(.removeArchive(name), to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        host.shared.totals.noteArchives(host.centers[host.applied.position], earlierByteLimit)
        answer.becomeEmpty()
        return .answered
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
        try host.centers.checkArchives()
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
        rest.request = .forget(query, above: next, count: earlierCount + count)
        host.postponed.add(.request(rest), &context)
        return .later
    }
}

extension CenterTable {
    /// Checks that the center may have archives: brokers that share a log have none yet.
    func checkArchives() throws(Problem) {
        guard log != nil else { return }
        throw Problem(
            .notImplemented,
            "Brokers that share a log keep no archives, and begin at the present or a number.")
    }
}

extension CenterTotals {
    /// Adds what the archives of a center may keep now, to that of the whole broker.
    func noteArchives(_ center: borrowing NotificationCenter, _ earlierByteLimit: Int) {
        archiveByteLimit.add(
            center.archives.reservedByteCount - earlierByteLimit, ordering: .relaxed)
    }
}

extension ArchiveTerms {
    /// Checks that there is room for an archive, in its center and in the memory of the broker.
    ///
    /// A kept notification may take twice the bytes that it counts.
    fileprivate func checkRoom(
        for name: ArchiveName, in archives: Archives, _ kept: borrowing KeptWatch,
        _ context: inout LoopContext
    ) throws(Problem) {
        do throws(Refusal) {
            try archives.check(name, self, context.configuration.centerLimits)
        } catch {
            throw Problem(error)
        }
        let known = archives.row(named: name)?.terms.byteLimit ?? 0
        let reserved = kept.shared.totals.archiveByteLimit.load(ordering: .relaxed)
        guard byteLimit > known, 2 * (reserved + byteLimit - known) > kept.limits[.archives]
        else { return }
        context.meet(.archives)
        var problem = Problem.full(.archives, context.configuration)
        problem.kind = .archiveFull
        throw problem
    }
}
