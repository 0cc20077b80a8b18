import BelfryAccess
import BelfryLoop
import BelfrySystem

/// Verifies tokens on a thread of its own: a signature takes as long as many posts.
final class TokenVerifier: Sendable {
    /// A token, and the loop that waits for it.
    struct Job: Sendable {
        let token: SignedToken
        let digest: TokenDigest
        let loop: Int
    }

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
    }

    private let state = Monitor(State())

    /// The most tokens that may wait.
    static let jobLimit = 1_024

    /// Submits a token; the loop gets its verdict as mail.
    ///
    /// - Returns: whether there was room.
    func submit(_ job: Job) -> Bool {
        state.change { state in
            guard !state.isClosed, state.jobs.count < Self.jobLimit else { return false }
            state.jobs.append(job)
            return true
        }
    }

    /// Starts the thread.
    func start(_ mailboxes: [LoopMailbox<LoopMessage>]) throws(SystemCallError) -> SystemThread {
        try SystemThread { [self] in
            while let jobs = takeJobs() {
                Self.verify(jobs, mailboxes)
            }
        }
    }

    /// Verifies the waiting tokens on the calling thread, and returns their number.
    func verifyWaiting(_ mailboxes: [LoopMailbox<LoopMessage>]) -> Int {
        let jobs = state.change { state in
            defer { state.jobs = [] }
            return state.jobs
        }
        Self.verify(jobs, mailboxes)
        return jobs.count
    }

    private static func verify(_ jobs: [Job], _ mailboxes: [LoopMailbox<LoopMessage>]) {
        for job in jobs {
            _ = mailboxes[job.loop].post(.verdict(job.digest, verdict(job.token)))
        }
    }

    /// Ends the thread, and drops waiting tokens.
    func close() {
        state.change { $0.isClosed = true }
    }

    /// The waiting jobs; nil once the verifier was closed.
    private func takeJobs() -> [Job]? {
        let jobs = state.take { state -> [Job]? in
            if state.isClosed { return [] }
            guard !state.jobs.isEmpty else { return nil }
            defer { state.jobs = [] }
            return state.jobs
        }
        guard let jobs, !jobs.isEmpty else { return nil }
        return jobs
    }

    /// The result of verifying a token: its claims, or the reason why it is not valid.
    static func verdict(_ token: SignedToken) -> Verdict {
        do throws(AccessError) {
            return .good(try token.verify())
        } catch {
            return .bad(error)
        }
    }
}
