import BelfryHTTP
import BelfryWire

/// The parameters of a query; what nobody took in the end is refused.
struct Query {
    private var parameters: [BelfryHTTP.QueryParameter]

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
        let values = parameters.filter { $0.name.elementsEqual(name.utf8) }.map { $0.value }
        parameters.removeAll { $0.name.elementsEqual(name.utf8) }
        return values
    }

    /// Takes all parameters that are left, for a listing that knows which it has.
    mutating func takeRest() -> [BelfryWire.QueryParameter] {
        defer { parameters = [] }
        return parameters.map { BelfryWire.QueryParameter(name: $0.name, value: $0.value) }
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

    private func refusal(_ parameter: String, _ detail: String) -> Problem {
        Problem.invalidParameter(parameter, detail)
    }
}
