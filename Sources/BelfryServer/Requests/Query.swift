import BelfryBytes
import BelfryHTTP
import BelfryWire

/// The parameters of a query; those that no reader took are refused in the end.
struct Query {
    private var parameters: [BelfryHTTP.QueryParameter] = []

    init(_ head: borrowing RequestHead) throws(Problem) {
        guard head.hasQuery else { return }
        do throws(HTTPError) {
            parameters = try RequestTarget.queryParameters(of: head.query)
        } catch {
            throw Problem(error)
        }
    }

    /// Takes a parameter that may occur once; a second one stays, and is refused in the end.
    mutating func take(_ name: String) -> [UInt8]? {
        for position in parameters.indices where parameters[position].isNamed(name) {
            return parameters.remove(at: position).value
        }
        return nil
    }

    /// Takes a parameter that is true or false, and may occur once.
    mutating func takeFlag(_ name: String) throws(Problem) -> Bool {
        guard let text = take(name) else { return false }
        guard let flag = Bool(String(decoding: text, as: UTF8.self)) else {
            throw Problem.invalidParameter(name, "must be true or false")
        }
        return flag
    }

    /// Takes a parameter that may occur several times.
    mutating func takeAll(_ name: String) -> [[UInt8]] {
        let values = parameters.filter { $0.isNamed(name) }.map { $0.value }
        parameters.removeAll { $0.isNamed(name) }
        return values
    }

    /// Takes the ticket, which was read with the other credentials.
    mutating func takeTicket() { _ = take(Self.ticket) }

    /// The parameter that holds a ticket.
    static let ticket = "ticket"

    /// Takes all remaining parameters, for readers that know theirs.
    mutating func takeRest() -> [BelfryWire.QueryParameter] {
        if parameters.isEmpty { return [] }
        defer { parameters = [] }
        return parameters.map { BelfryWire.QueryParameter(name: $0.name, value: $0.value) }
    }

    /// Refuses parameters that no reader took.
    func finish() throws(Problem) {
        guard let unknown = parameters.first else { return }
        throw Problem.invalidParameter(
            String(decoding: unknown.name, as: UTF8.self),
            "is not a parameter of this path, or is repeated")
    }
}

extension BelfryHTTP.QueryParameter {
    fileprivate func isNamed(_ text: String) -> Bool {
        bytesAreEqual(name.span, text.utf8.span)
    }
}
