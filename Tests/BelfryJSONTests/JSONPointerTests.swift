import BelfryJSON
import Testing

@Suite("JSONPointer (RFC 6901)")
struct JSONPointerTests {
    @Test(
        "the examples of section 6 come out as printed there",
        arguments: [
            ("foo", "#/foo"), ("", "#/"), ("a/b", "#/a~1b"), ("c%d", "#/c%25d"), ("e^f", "#/e%5Ef"),
            ("g|h", "#/g%7Ch"), ("i\\j", "#/i%5Cj"), ("k\"l", "#/k%22l"), (" ", "#/%20"),
            ("m~n", "#/m~0n"),
        ])
    func examples(_ key: String, expected: String) {
        #expect(JSONPointer.root.appending(key: key).description == expected)
    }

    @Test(
        "keys outside ASCII and signs of a URI are percent-encoded byte by byte",
        arguments: [
            ("é", "#/%C3%A9"), ("a#b", "#/a%23b"), ("[0]", "#/%5B0%5D"), ("<>", "#/%3C%3E"),
            ("\u{0}\u{7F}", "#/%00%7F"), ("~1", "#/~01"),
            ("a-._!$&'()*+,;=:@?z", "#/a-._!$&'()*+,;=:@?z"),
        ])
    func encoding(_ key: String, expected: String) {
        #expect(JSONPointer.root.appending(key: [UInt8](key.utf8)).description == expected)
    }

    @Test("pointers grow by keys and indices")
    func path() {
        #expect(JSONPointer.root.description == "#")
        let pointer = JSONPointer.root.appending(index: 2).appending(key: "style")
        #expect(pointer.description == "#/2/style")
        #expect(pointer.bytes == [UInt8]("#/2/style".utf8))
    }
}
