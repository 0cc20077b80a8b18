import BelfryCenter
import BelfryStore
import Testing

@testable import BelfryServer

@Suite("Beginning (DESIGN section 4, Store)")
struct BeginningTests {
    @Test("law 4: a restored center's next numbers are reserved before anybody is given one")
    func reservation() throws {
        let name = Array("default".utf8)
        var store = MemoryStore()
        try store.commit([
            .center(name: name, .center(CenterRecord(epoch: Array("e".utf8)))),
            .center(name: name, .sequenceReserved(through: 5)),
        ])
        let beginning = try Beginning(&store) { Array("f".utf8) }
        #expect(beginning.centers.map(\.sequence) == [5])
        let stored = try store.load()
        #expect(stored.centers.map(\.sequence) == [5 + NotificationCenter.sequenceBlock])
        #expect(stored.centers.map(\.epoch) == [Array("e".utf8)])
    }
}
