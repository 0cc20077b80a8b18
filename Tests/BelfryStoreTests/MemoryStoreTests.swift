import BelfryCenter
import BelfryStore
import Testing

@Suite("MemoryStore")
struct MemoryStoreTests {
    @Test("a store in memory is not there after nobody has it")
    func empty() throws {
        var store = MemoryStore()
        #expect(try store.load() == StoreImage())
    }
}
