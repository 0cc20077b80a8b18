import BelfryJSON
import TestSupport
import Testing

@testable import BelfryCenter

/// A center with observers of all filters beside a list of them that is searched.
private struct FilterWorld {
    /// An observer as the list has it.
    struct Known {
        let serial: UInt64
        let name: String?
        let object: String?
        let terms: FilterTerms
        /// The value of `k` that its condition asks for.
        let value: Int?
    }

    static let names = ["a", "a.", "a.b", "ab", "b", "é", "é."]
    static let objects = ["o", "o-1", "o-2", "p"]

    var scenario = Scenario()
    var random: SplitMix
    var known: [Known] = []
    let client: UInt64

    init(seed: UInt64) {
        random = SplitMix(seed: seed)
        client = scenario.connect()
    }

    mutating func pick(_ texts: [String]) -> String {
        texts[Int.random(in: texts.indices, using: &random)]
    }

    mutating func register() throws {
        var terms = FilterTerms()
        var (name, object, value): (String?, String?, Int?) = (nil, nil, nil)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: name = pick(Self.names)
        case 1: terms.namePrefix = bytes(pick(Self.names))
        case 2:
            let names = Self.names.shuffled(using: &random).prefix(2)
            terms.names = names.map { bytes($0) }
        default: break
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: object = pick(Self.objects)
        case 1: terms.objectPrefix = bytes(pick(Self.objects))
        default: break
        }
        if Bool.random(using: &random) {
            let wanted = Int.random(in: 0..<3, using: &random)
            terms.condition = try JSONCondition(bytes(#"{"k":\#(wanted)}"#).span)
            value = wanted
        }
        var registration = scenario.registration(name, object)
        if terms.isFiner {
            registration = ObserverRegistration(
                serial: registration.serial, tokenHash: registration.tokenHash,
                name: registration.name, object: registration.object,
                selector: registration.selector, terms: registration.terms,
                role: .filtered(terms, target: nil))
        }
        scenario.apply(.addObserver(registration, client: client, since: nil))
        known.append(
            Known(
                serial: registration.serial, name: name, object: object, terms: terms,
                value: value))
    }

    mutating func removeOne() {
        guard !known.isEmpty else { return }
        let gone = known.remove(at: Int.random(in: known.indices, using: &random))
        scenario.remove(gone.serial, by: .client(client))
    }

    /// The observers of a notification, by the list.
    func observers(of name: String, _ object: String?, _ value: Int) -> [UInt64] {
        known.filter { one in
            let namePasses =
                if let wanted = one.name {
                    wanted == name
                } else if let prefix = one.terms.namePrefix {
                    bytes(name).starts(with: prefix)
                } else {
                    one.terms.names.isEmpty || one.terms.names.contains(bytes(name))
                }
            let objectPasses =
                if let wanted = one.object {
                    wanted == object
                } else if let prefix = one.terms.objectPrefix {
                    object.map { bytes($0).starts(with: prefix) } ?? false
                } else {
                    true
                }
            return namePasses && objectPasses && (one.value.map { $0 == value } ?? true)
        }.map(\.serial)
    }
}

@Suite("Filters agree with a list that is searched (rules P5, P9, W1 and W13)")
struct FilterModelTests {
    @Test("P5: posts find the same observers, in the order of registration", arguments: 1...30)
    func agrees(seed: UInt64) throws {
        var world = FilterWorld(seed: seed)
        for step in 0..<400 {
            if Int.random(in: 0..<3, using: &world.random) > 0 {
                try world.register()
            } else {
                world.removeOne()
            }
            let name = world.pick(FilterWorld.names)
            let object = Bool.random(using: &world.random) ? world.pick(FilterWorld.objects) : nil
            let value = Int.random(in: 0..<3, using: &world.random)
            let expected = world.observers(of: name, object, value)
            try #require(
                world.scenario.post(name, object, userInfo: #"{"k":\#(value)}"#) == expected)
            if step % 100 == 99 {
                let code = world.scenario.center.snapshot()
                world.scenario.center = try NotificationCenter(
                    snapshot: code, seed: HashSeed(seed, 9))
                #expect(world.scenario.center.snapshot() == code)
            }
        }
        while !world.known.isEmpty { world.removeOne() }
        #expect(!world.scenario.center.registry.index.hasFilters)
        #expect(
            world.scenario.center.registry.index.filters.footprint == FilterIndex().footprint)
    }

    @Test(
        "P10: filters are kept, restored from the store and shown as exact names are",
        arguments: 1...5)
    func restores(seed: UInt64) throws {
        var world = FilterWorld(seed: seed)
        for _ in 0..<40 { try world.register() }
        let rows = world.scenario.rows
        let code = world.scenario.center.snapshot()
        let again = try NotificationCenter(snapshot: code, seed: HashSeed(7, 9))
        world.scenario.center = again
        #expect(world.scenario.rows == rows)
    }
}
