import BelfryJSON
import TestSupport
import Testing

@testable import BelfryCenter

@Suite("FilterIndex (rules P and W)")
struct FilterIndexTests {
    @Test(
        "the last observer with a prefix goes, and another one may come",
        arguments: [true, false])
    func lastPrefix(isOfName: Bool) {
        var index = ObserverIndex(seed: HashSeed(1, 2), unobservedNameLimit: 10)
        var terms = FilterTerms()
        if isOfName { terms.namePrefix = bytes("a.") } else { terms.objectPrefix = bytes("a.") }
        for serial in UInt64(1)...3 {
            let place = index.add(terms, name: nil, object: nil, serial: serial, slot: 0)
            #expect(index.filters.names.count == (isOfName ? 1 : 0))
            #expect(index.filters.objects.count == (isOfName ? 0 : 1))
            index.remove(terms, serial: serial, from: place)
            #expect(index.isEmpty)
            #expect(index.filters.names.count + index.filters.objects.count == 0)
        }
    }

    @Test("P5: observers of all kinds come in registration order, though no finer one matches")
    func order() throws {
        var scenario = Scenario()
        let client = scenario.connect()
        let everything = scenario.observe(nil, by: client)
        let object = scenario.observe(nil, "o", by: client)
        let name = scenario.observe("a", by: client)
        var terms = FilterTerms()
        terms.namePrefix = bytes("a")
        terms.condition = try JSONCondition(bytes(#"{"n":1}"#).span)
        let finer = scenario.observe(terms, by: client)
        let both = scenario.observe("a", "o", by: client)
        #expect(scenario.post("a", "o") == [everything, object, name, both])
        #expect(
            scenario.post("a", "o", userInfo: #"{"n":1}"#)
                == [everything, object, name, finer, both])
        #expect(scenario.post("b", "o") == [everything, object])
    }

    @Test("W8: a full store refuses no post because of an observer that is filtered out")
    func fullStore() throws {
        var limits = CenterLimits()
        limits.isDurable = true
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        var terms = FilterTerms()
        terms.condition = try JSONCondition(bytes(#"{"n":1}"#).span)
        scenario.observe(terms, by: client)
        scenario.apply(.setSuspended(client: client, true))
        var full = PostTerms()
        full.canStore = false
        let other = scenario.newPost("a", userInfo: #"{"n":2}"#)
        #expect(scenario.apply(.post(other, full)) == .done)
        let wanted = scenario.newPost("a", userInfo: #"{"n":1}"#)
        #expect(scenario.apply(.post(wanted, full)) == .refused(.cannotStore))
    }
}

extension Scenario {
    /// Registers an observer with these terms alone, and tells its serial number.
    @discardableResult
    fileprivate mutating func observe(_ terms: FilterTerms, by client: UInt64) -> UInt64 {
        let plain = registration(nil)
        let registration = ObserverRegistration(
            serial: plain.serial, tokenHash: plain.tokenHash, name: nil, object: nil,
            selector: plain.selector, role: .filtered(terms, target: nil))
        apply(.addObserver(registration, client: client, since: nil))
        return registration.serial
    }
}
