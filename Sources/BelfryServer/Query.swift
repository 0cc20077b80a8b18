import BelfryHTTP
import BelfryWire

/// The parameters of a query; what nobody took in the end is refused.
struct Query {
    private var parameters: [QueryParameter]

    init(_ head: RequestHead) throws(Problem) {
        guard head.hasQuery else {
            parameters = []
            return
        }
        do throws(HTTPError) {
            parameters = try RequestTarget.queryParameters(of: head.query)
        } catch {
            throw Problem(error)
        }
    }

    /// Takes a parameter that may stand once.
    mutating func take(_ name: String) -> [UInt8]? {
        guard let position = parameters.firstIndex(where: { $0.name.elementsEqual(name.utf8) })
        else { return nil }
        // A second one stays, and is refused in the end.
        return parameters.remove(at: position).value
    }

    /// Takes a parameter that may stand several times.
    mutating func takeAll(_ name: String) -> [[UInt8]] {
        let values = parameters.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
        parameters.removeAll { $0.name.elementsEqual(name.utf8) }
        return values
    }

    /// Takes `limit` (1 to 1,000, default 100) and `cursor`.
    mutating func page() throws(Problem) -> (cursor: UInt64, limit: Int) {
        let limit = try takeLimit()
        guard let text = take("cursor") else { return (0, limit) }
        guard let cursor = CursorText.read(text.span) else {
            throw refusal("cursor", "must be the next of an earlier page")
        }
        return (cursor, limit)
    }

    /// Takes `client`, as `c4`.
    mutating func client() throws(Problem) -> UInt64? {
        guard let text = take("client") else { return nil }
        guard let client = IdentifierText(client: text.span), client.secret == nil else {
            throw refusal("client", "must be a client such as c4")
        }
        return client.number
    }

    /// Takes `state`.
    mutating func state() throws(Problem) -> ClientState? {
        guard let text = take("state") else { return nil }
        guard let state = ClientState(text: text) else {
            throw refusal("state", "must be live, asked, slow or disconnected")
        }
        return state
    }

    /// Refuses options of the queue and of suspension by name, so that nobody takes them for a typo.
    mutating func refuseLaterOptions() throws(Problem) {
        for name in ["style", "coalesce", "keep", "modes", "maxDelay", "immediate", "ttl"]
        where parameters.contains(where: { $0.name.elementsEqual(name.utf8) }) {
            throw refusal(name, "is not supported by this version")
        }
    }

    /// Refuses parameters that nobody took.
    func finish() throws(Problem) {
        guard let unknown = parameters.first else { return }
        throw refusal(
            String(decoding: unknown.name, as: UTF8.self),
            "is not a parameter of this path, or stands twice")
    }

    private mutating func takeLimit() throws(Problem) -> Int {
        guard let text = take("limit") else { return 100 }
        guard let limit = Int(String(decoding: text, as: UTF8.self)), (1...1_000).contains(limit),
            text.allSatisfy({ (48...57).contains($0) })
        else { throw refusal("limit", "must be an integer from 1 to 1000") }
        return limit
    }

    private func refusal(_ parameter: String, _ detail: String) -> Problem {
        Problem.invalidParameter(parameter, detail)
    }
}
