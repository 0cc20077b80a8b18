import Testing

@testable import BelfryCenter

@Suite("Rows in memory")
struct RowSizeTests {
    // A snapshot has the memory of each owner as a sum of these sizes: a version with other sizes
    // would subtract more or less than was added.
    @Test("the rows of clients, observers and asks keep their sizes")
    func sizes() {
        #expect(MemoryLayout<ClientTable.Client>.stride == 216)
        #expect(MemoryLayout<ObserverTable.Observer>.stride == 240)
        #expect(MemoryLayout<OpenAsk>.stride == 352)
    }
}
