import BelfryClient
import BelfrySystem

/// One ask of the command line, and its withdrawal.
struct AskRun: Sendable {
    let url: BrokerURL
    let object: String
    let selector: String
    let userInfo: UserInfo?
    /// The id of the ask, once the broker has stored it.
    private let openID = Monitor<String?>(nil)

    init(url: BrokerURL, object: String, selector: String, userInfo: UserInfo?) {
        self.url = url
        self.object = object
        self.selector = selector
        self.userInfo = userInfo
    }

    private var course: AskCourse {
        AskCourse.reporting(asked: { id in openID.change { $0 = id } }, at: url)
    }

    /// Asks, and waits for the answer.
    ///
    /// - Returns: an open ask when the wait is over, or the task is cancelled, before its end.
    func answer(_ options: AskOptions) async throws(ToolError) -> AskAnswer {
        if options.failsClosed {
            return await AskCourse.failingClosed(options) { (terms) async throws(ClientError) in
                try await outcome(terms)
            }
        }
        do throws(ClientError) {
            return try await outcome(options)
        } catch {
            throw ToolError(askError: error, url)
        }
    }

    private func outcome(_ options: AskOptions) async throws(ClientError) -> AskAnswer {
        var course = course
        return try await course.answer(of: object, selector, userInfo, options)
    }

    /// Withdraws the ask where it is stored, and returns how it has ended.
    func giveUp(fallback: String?) async throws(ToolError) -> AskAnswer? {
        guard let id = openID.change({ $0 }) else { return nil }
        do throws(ClientError) {
            return try await course.giveUp(id, fallback: fallback)
        } catch {
            throw ToolError(askError: error, url)
        }
    }
}

extension AskCourse {
    /// A course that says on standard error when the broker is away and when it is back.
    static func reporting(
        asked: @escaping @Sendable (String) -> Void = { _ in }, at url: BrokerURL
    ) -> AskCourse {
        let teller = Monitor(ConnectionTeller())
        return AskCourse(
            report: { state in
                if let text = teller.change({ $0.text(of: state) }) {
                    Screen.say("belfry: \(text)", to: .error)
                }
            }, asked: asked, at: { url })
    }
}

/// Prints the answer to an ask; its error is that no responder has given it.
struct AnswerPrinter {
    /// Whether the answer is printed as the broker wrote it.
    let isWhole: Bool

    func write(_ answer: AskAnswer) throws(ToolError) {
        if isWhole || !answer.json.isEmpty {
            try Report.write(Report.oneLine(isWhole ? answer.content : answer.json))
        }
        switch answer.source {
        case .responder: return
        case .fallback(let reason), .asker(let reason):
            throw .unanswered("the answer is the default: \(reason)")
        case .open:
            throw .unanswered(
                "there is no answer yet; wait for one with `belfry fate \(answer.id) --wait TIME`, "
                    + "as long as the request lives")
        case .withdrawn: throw .unanswered("the request was withdrawn")
        }
    }
}

extension ToolError {
    /// The error for an ask, or for its fate.
    init(askError error: ClientError, _ url: BrokerURL) {
        switch error {
        case .cancelled: self = .unanswered("the request was withdrawn")
        case .dotSegment: self = .usage(error.description)
        case _ where error.isUnanswered: self = .unanswered("\(url): \(error)")
        case _: self = .failure("\(url): \(error)")
        }
    }
}
