import BelfryJSON
import TestSupport
import Testing

@testable import BelfryCenter

@Suite("The code of filter terms (Architecture.md section 6)")
struct FilterCodeTests {
    private static func terms(_ change: (inout FilterTerms) -> Void) -> FilterTerms {
        var terms = FilterTerms()
        change(&terms)
        return terms
    }

    private static let all: [FilterTerms] = [
        terms { $0.names = [bytes("a"), bytes("b")] },
        terms { $0.namePrefix = bytes("a.") },
        terms { $0.objectPrefix = bytes("o") },
        terms { $0.condition = try? JSONCondition(bytes(#"{"n":1}"#).span) },
        terms { terms in
            terms.names = [bytes("a")]
            terms.grants = [
                GrantCondition(
                    names: [bytes("a")],
                    alternatives: [try? JSONCondition(bytes(#"{"n":2}"#).span)].compactMap(\.self))
            ]
        },
    ]

    @Test("a removal by terms is read as it was written", arguments: all)
    func removal(terms: FilterTerms) throws {
        var filter = ObserverFilter(object: bytes("o"), target: bytes("w"))
        filter.terms = terms
        let command = Command(
            id: CommandID(node: 1, incarnation: 1, counter: 1),
            time: CommandTime(wallMilliseconds: 1, monotonicNanoseconds: 1),
            action: .removeObservers(client: 3, filter))
        let read = try Command(code: command.code)
        #expect(differences(command, read) == [])
        #expect(read.code == command.code)
    }

    @Test("a registration with terms is read as it was written", arguments: all)
    func registration(terms: FilterTerms) throws {
        for target in [nil, bytes("w")] {
            let command = Command(
                id: CommandID(node: 1, incarnation: 1, counter: 1),
                time: CommandTime(wallMilliseconds: 1, monotonicNanoseconds: 1),
                action: .addObserver(
                    ObserverRegistration(
                        serial: 1, tokenHash: SecretHash(high: 1, low: 2), name: nil, object: nil,
                        selector: bytes("s"), role: .filtered(terms, target: target)),
                    client: 3, since: nil))
            let read = try Command(code: command.code)
            #expect(differences(command, read) == [])
            #expect(read.code == command.code)
        }
    }
}
